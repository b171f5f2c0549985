#include "engine/model/gguf_keys.h"

namespace assay {
namespace {

std::string described(GgufType type, bool is_array) {
  return (is_array ? "array of " : "") + std::string(gguf_type_name(type));
}

// The value of an integer of any type; empty where it is none, or beyond int64.
std::optional<std::int64_t> integer_value(const GgufValue& value) {
  if (value.is_array) return std::nullopt;
  switch (value.type) {
    case GgufType::u8:
      return value.element<std::uint8_t>(0);
    case GgufType::i8:
      return value.element<std::int8_t>(0);
    case GgufType::u16:
      return value.element<std::uint16_t>(0);
    case GgufType::i16:
      return value.element<std::int16_t>(0);
    case GgufType::u32:
      return value.element<std::uint32_t>(0);
    case GgufType::i32:
      return value.element<std::int32_t>(0);
    case GgufType::i64:
      return value.element<std::int64_t>(0);
    case GgufType::u64: {
      const auto wide = value.element<std::uint64_t>(0);
      return wide > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(wide);  // beyond every bound that is asked for
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

void GgufKeys::fail(Fault fault, std::string_view key, const std::string& why) const {
  const GgufValue* value = gguf_.find(key);
  Where where{file_, {}, "key " + shown(key)};
  if (value != nullptr) where.offset = value->offset;
  throw ModelFileError(fault, where, why);
}

const GgufValue& GgufKeys::require(std::string_view key) const {
  const GgufValue* value = gguf_.find(key);
  if (value == nullptr) fail(Fault::missing_key, key, "it is missing");
  return *value;
}

const GgufValue& GgufKeys::require(std::string_view key, GgufType type, bool is_array) const {
  const GgufValue& value = require(key);
  if (value.type != type || value.is_array != is_array) {
    fail(Fault::key_type, key, described(value.type, value.is_array) + "; expected " + described(type, is_array));
  }
  return value;
}

std::int64_t GgufKeys::integer(std::string_view key, std::int64_t least, std::int64_t most) const {
  const GgufValue& value = require(key);
  const auto number = integer_value(value);
  if (!number) fail(Fault::key_type, key, described(value.type, value.is_array) + "; expected an integer");
  if (*number < least || *number > most) {
    fail(Fault::key_value, key, std::to_string(*number) + "; expected " + std::to_string(least) + " to " + std::to_string(most));
  }
  return *number;
}

std::optional<std::int64_t> GgufKeys::optional_integer(std::string_view key, std::int64_t least, std::int64_t most) const {
  if (!has(key)) return std::nullopt;
  return integer(key, least, most);
}

double GgufKeys::real(std::string_view key) const {
  const GgufValue& value = require(key);
  if (value.type == GgufType::f32 && !value.is_array) return value.element<float>(0);
  if (value.type == GgufType::f64 && !value.is_array) return value.element<double>(0);
  fail(Fault::key_type, key, described(value.type, value.is_array) + "; expected f32 or f64");
}

std::string_view GgufKeys::string(std::string_view key) const {
  return require(key, GgufType::string, false).strings.front();
}

std::optional<std::string_view> GgufKeys::optional_string(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  return string(key);
}

std::optional<bool> GgufKeys::optional_boolean(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  return require(key, GgufType::boolean, false).bytes.front() != 0;
}

const std::vector<std::string_view>& GgufKeys::strings(std::string_view key) const {
  return require(key, GgufType::string, true).strings;
}

const GgufValue& GgufKeys::integers(std::string_view key, GgufType type) const {
  return require(key, type, true);
}

}  // namespace assay
