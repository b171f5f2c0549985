#include "engine/model/json_members.h"

#include <nlohmann/json.hpp>

namespace assay {

using nlohmann::json;

void JsonMembers::fail(Fault fault, const std::string& name, const std::string& why) const {
  throw ModelFileError(fault, {file_, {}, "key " + shown(prefix_ + name)}, why);
}

const json* JsonMembers::find(const std::string& name) const {
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const json& JsonMembers::require(const std::string& name) const {
  const json* value = find(name);
  if (value == nullptr) fail(Fault::missing_key, name, "it is missing");
  return *value;
}

std::int64_t JsonMembers::integer(const std::string& name, std::int64_t least, std::int64_t most) const {
  const json& value = require(name);
  if (!value.is_number_integer()) fail(Fault::key_type, name, std::string(value.type_name()) + "; expected an integer");
  const bool fits = value.is_number_unsigned() ? value.get<std::uint64_t>() <= INT64_MAX : true;
  const std::int64_t number = fits ? value.get<std::int64_t>() : INT64_MAX;
  if (number < least || number > most) {
    fail(Fault::key_value, name, value.dump() + "; expected " + std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

double JsonMembers::real(const std::string& name) const {
  const json& value = require(name);
  if (!value.is_number()) fail(Fault::key_type, name, std::string(value.type_name()) + "; expected a number");
  return value.get<double>();
}

std::optional<double> JsonMembers::optional_real(const std::string& name) const {
  if (find(name) == nullptr) return std::nullopt;
  return real(name);
}

std::string JsonMembers::string(const std::string& name) const {
  const json& value = require(name);
  if (!value.is_string()) fail(Fault::key_type, name, std::string(value.type_name()) + "; expected a string");
  return value.get<std::string>();
}

std::optional<std::string> JsonMembers::optional_string(const std::string& name) const {
  if (find(name) == nullptr) return std::nullopt;
  return string(name);
}

bool JsonMembers::boolean(const std::string& name) const {
  const json& value = require(name);
  if (!value.is_boolean()) fail(Fault::key_type, name, std::string(value.type_name()) + "; expected true or false");
  return value.get<bool>();
}

std::optional<bool> JsonMembers::optional_boolean(const std::string& name) const {
  if (find(name) == nullptr) return std::nullopt;
  return boolean(name);
}

}  // namespace assay
