#include "harness/forensics/reduce/arguments_c.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "harness/forensics/reduce/literals.h"

namespace assay {
namespace {

const char* field_type(FieldKind kind) {
  switch (kind) {
    case FieldKind::tensor:
      return "void*";
    case FieldKind::array:
      return "const Item*";
    case FieldKind::size:
    case FieldKind::number:
    case FieldKind::any:
    case FieldKind::length:
      return "int64_t";
    case FieldKind::choice:
    case FieldKind::int32:
      return "int32_t";
    case FieldKind::real32:
      return "float";
    case FieldKind::real64:
      return "double";
  }
  return "";
}

std::vector<Field> in_memory_order(std::span<const Field> fields) {
  std::vector<Field> ordered(fields.begin(), fields.end());
  std::ranges::sort(ordered, {}, &Field::offset);
  return ordered;
}

std::string struct_text(const char* name, std::span<const Field> fields, std::size_t bytes) {
  std::string text = fmt::format("typedef struct {} {{\n", name);
  for (const Field& field : in_memory_order(fields)) text += fmt::format("  {} {};\n", field_type(field.kind), field.name);
  return text + fmt::format("}} {0};\n_Static_assert(sizeof({0}) == {1}, \"{0}\");\n", name, bytes);
}

// The argument struct's values, with an address of its own for each tensor.
class ArgumentsText {
 public:
  ArgumentsText(const Op& op, const Signature& signature, const Params& params)
      : op_(op), addresses_(addresses(signature.tensors.size())), args_(op, params, addresses_) {}

  std::string structs() const {
    std::string text;
    for (const NestedArray& array : args_.arrays())
      text += struct_text("Item", op_.family->array_fields, array.bytes.size() / items(array));
    return text + struct_text(op_.family->args, op_.family->fields, args_.size());
  }

  std::string function() const {
    std::string text = fmt::format("\nstatic void* arguments(void) {{\n  static {} args;\n", op_.family->args);
    for (const NestedArray& array : args_.arrays()) {
      const std::size_t count = items(array), bytes = array.bytes.size() / count;
      text += fmt::format("  static Item items[{}];\n", count);
      for (std::size_t i = 0; i < count; ++i)
        text += values(fmt::format("items[{}]", i), op_.family->array_fields, array.bytes.data() + i * bytes);
    }
    return text + values("args", op_.family->fields, static_cast<const std::byte*>(args_.data())) + "  return &args;\n}\n";
  }

 private:
  static constexpr int kAddressBits = 40;

  static std::vector<void*> addresses(std::size_t count) {
    std::vector<void*> all;
    for (std::size_t t = 1; t <= count; ++t)
      all.push_back(reinterpret_cast<void*>(t << kAddressBits));  // NOLINT: none is followed
    return all;
  }

  // How many structs an array holds: what its length says.
  std::size_t items(const NestedArray&) const {
    const auto length = std::ranges::find(op_.family->fields, FieldKind::length, &Field::kind);
    const auto count = value_at<std::int64_t>(static_cast<const std::uint8_t*>(args_.data()) + length->offset);
    return static_cast<std::size_t>(std::max<std::int64_t>(count, 1));
  }

  static std::string values(const std::string& of, std::span<const Field> fields, const std::byte* bytes) {
    std::string text;
    for (const Field& field : in_memory_order(fields)) {
      const std::string value = value_of(field, reinterpret_cast<const std::uint8_t*>(bytes) + field.offset);
      if (!value.empty()) text += fmt::format("  {}.{} = {};\n", of, field.name, value);
    }
    return text;
  }

  static std::string value_of(const Field& field, const std::uint8_t* place) {
    const std::string_view type = field_type(field.kind);
    if (field.kind == FieldKind::array) return "items";
    if (field.kind == FieldKind::tensor) return pointer_text(value_at<std::uint64_t>(place));
    if (type == "int32_t") return literal(DType::i32, place);
    if (type == "float") return literal(DType::f32, place);
    if (type == "double") return literal(DType::f64, place);
    return fmt::format("{}", value_at<std::int64_t>(place));
  }

  // A pointer may lie before its tensor's first element, or within it.
  static std::string pointer_text(std::uint64_t address) {
    if (address == 0) return {};
    constexpr std::uint64_t kHalf = std::uint64_t{1} << (kAddressBits - 1);
    const std::uint64_t tensor = (address + kHalf) >> kAddressBits;
    const auto offset = static_cast<std::int64_t>(address - (tensor << kAddressBits));
    return fmt::format("memory[{}].at{}", tensor - 1, offset == 0 ? "" : fmt::format(" + {}", offset));
  }

  const Op& op_;
  std::vector<void*> addresses_;
  Arguments args_;
};

}  // namespace

ArgumentsInC arguments_in_c(const Op& op, const Signature& signature, const Params& params) {
  const ArgumentsText text(op, signature, params);
  return {text.structs(), text.function()};
}

}  // namespace assay
