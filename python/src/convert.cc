#include "python/src/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <stdexcept>

#include "harness/verdict/element_text.h"

namespace assay::python {

Params params_from(const nb::dict& values) {
  Params params;
  for (const auto& [key, value] : values) {
    const auto name = nb::cast<std::string>(key);
    if (nb::isinstance<nb::str>(value)) {
      params.set(name, nb::cast<std::string>(value));
    } else if (nb::isinstance<nb::float_>(value)) {
      params.set(name, nb::cast<double>(value));
    } else {
      params.set(name, nb::cast<std::int64_t>(value));
    }
  }
  return params;
}

nb::dict params_to(const Params& params) {
  nb::dict values;
  for (const auto& [name, value] : params.values())
    std::visit([&, &n = name](const auto& v) { values[n.c_str()] = nb::cast(v); }, value);
  return values;
}

Array array_from(nb::handle array) {
  const auto parts = nb::cast<nb::tuple>(array);
  Array made;
  made.dtype = dtype_from_name(nb::cast<std::string>(parts[0])).value();
  made.shape = nb::cast<std::vector<std::int64_t>>(parts[1]);
  const auto bytes = nb::cast<Bytes>(parts[2]);
  if (bytes.size() != static_cast<std::size_t>(made.elements()) * dtype_size(made.dtype))
    throw std::invalid_argument(
        fmt::format("{} bytes; expected those of {} [{}]", bytes.size(), dtype_name(made.dtype), fmt::join(made.shape, ", ")));
  made.bytes.assign(bytes.data(), bytes.data() + bytes.size());
  return made;
}

nb::tuple array_to(const Array& array) {
  return nb::make_tuple(std::string(dtype_name(array.dtype)), nb::tuple(nb::cast(array.shape)), numbers_to(array.bytes));
}

nb::list arrays_to(const std::vector<Array>& arrays) {
  nb::list all;
  for (const Array& one : arrays) all.append(array_to(one));
  return all;
}

nb::dict expected_to(const reference::Expected& expected) {
  nb::dict truth;
  if (!expected.value.empty()) {
    truth["value"] = numbers_to(expected.value);
    truth["bound"] = numbers_to(expected.bound);
    truth["bits_only"] = numbers_to(expected.bits_only);
  }
  if (!expected.bytes.empty()) truth["bytes"] = numbers_to(expected.bytes);
  return truth;
}

namespace {

nb::dict spec_to(const TensorSpec& spec) {
  nb::dict made;
  made["name"] = spec.name;
  made["dtype"] = std::string(dtype_name(spec.dtype));
  made["role"] = spec.role == Direction::in ? "in" : "out";
  made["shape"] = nb::tuple(nb::cast(spec.shape));
  made["aliases"] = nb::tuple(nb::cast(spec.aliases));
  made["in_place_only"] = spec.in_place_only;
  return made;
}

}  // namespace

nb::list specs_to(const Signature& signature) {
  nb::list specs;
  for (const TensorSpec& spec : signature.tensors) specs.append(spec_to(spec));
  return specs;
}

nb::dict scalars_of(const Op& op, const CallPart& part) {
  nb::dict scalars = params_to(part.params);
  const Arguments args(op, part.params, part.pointers);
  const auto read = [&args](const Field& field, auto value) {
    std::memcpy(&value, static_cast<const std::byte*>(args.data()) + field.offset, sizeof value);
    return value;
  };
  for (const Field& field : op.family->fields) {
    const char* name = field.param == nullptr ? field.name : field.param;
    if (*name == '\0') name = field.name;
    switch (field.kind) {
      case FieldKind::tensor:
      case FieldKind::array:
        break;
      case FieldKind::choice:
        scalars[name] = field.choices[static_cast<std::size_t>(read(field, std::int32_t{}))];
        break;
      case FieldKind::int32:
        scalars[name] = read(field, std::int32_t{});
        break;
      case FieldKind::real32:
        scalars[name] = read(field, float{});
        break;
      case FieldKind::real64:
        scalars[name] = read(field, double{});
        break;
      case FieldKind::size:
      case FieldKind::number:
      case FieldKind::any:
      case FieldKind::length:
        scalars[name] = read(field, std::int64_t{});
        break;
    }
  }
  return scalars;
}

nb::dict comparison_to(const TensorSpec& spec, const Comparison& found) {
  const auto miss = [&](const std::optional<Miss>& one) -> nb::object {
    if (!one) return nb::none();
    nb::dict made;
    made["element"] = one->index < 0 ? spec.name : element_name(spec, one->index);
    made["index"] = one->index;
    made["got"] = one->got;
    made["want"] = one->want;
    made["margin"] = one->margin;
    made["ulp"] = one->ulp;
    made["text"] = describe_miss(spec, *one);
    return made;
  };
  nb::dict made;
  made["name"] = spec.name;
  made["compared"] = found.compared;
  made["bits_only"] = found.bits_only;
  made["margin"] = found.margin;
  made["worst"] = miss(found.worst);
  made["wrong_class"] = miss(found.wrong_class);
  made["nmse"] = found.tolerances.nmse();
  made["all_close"] = found.tolerances.close();
  made["note"] = found.note;
  return made;
}

nb::object call_to(const std::shared_ptr<const JudgedCall>& call) {
  if (!call) return nb::none();
  nb::dict made;
  made["signature"] = specs_to(call->signature);
  made["inputs"] = arrays_to(call->inputs);
  made["outputs"] = arrays_to(call->outputs);
  nb::list expected;
  for (const reference::Expected& one : call->expected) expected.append(expected_to(one));
  made["expected"] = expected;
  return made;
}

}  // namespace assay::python
