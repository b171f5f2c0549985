// The ops as data: what `assay.op()` shows.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "harness/verdict/coverage.h"
#include "harness/verdict/suite.h"
#include "harness/verdict/variant.h"
#include "python/src/convert.h"

namespace assay::python {
namespace {

const char* exactness_name(reference::Exactness exactness) {
  switch (exactness) {
    case reference::Exactness::exact:
      return "exact";
    case reference::Exactness::bounded:
      return "bounded";
    case reference::Exactness::encoded:
      return "encoded";
  }
  return "";
}

const char* kind_name(FieldKind kind) {
  static constexpr const char* kNames[] = {"tensor", "array",  "size",  "number", "any",
                                           "length", "choice", "int32", "real32", "real64"};
  return kNames[static_cast<std::size_t>(kind)];
}

nb::list fields_of(const Op& op) {
  nb::list fields;
  for (const Field& field : op.family->fields) {
    nb::dict made;
    made["name"] = field.name;
    made["param"] = field.param == nullptr ? field.name : field.param;
    made["offset"] = field.offset;
    made["kind"] = kind_name(field.kind);
    made["optional"] = field.otherwise != nullptr;
    made["choices"] = strings_to(field.choices);
    fields.append(made);
  }
  return fields;
}

nb::dict op_info(const std::string& name) {
  const Op& op = require_op(name);
  nb::dict info;
  info["name"] = op.name;
  info["family"] = op.family->name;
  info["args"] = op.family->args;
  info["args_bytes"] = op.family->args_bytes;
  info["header"] = op.family->header;
  info["domain"] = op.contract->domain;
  info["exactness"] = exactness_name(op.contract->exactness);
  info["bound"] = op.contract->bound;
  info["fields"] = fields_of(op);
  info["bias"] = !op.family->bias_case(op).params.values().empty();
  const ShapeSpace space = op.family->shapes(op);
  nb::list sizes;
  for (const Size& size : space.sizes) {
    nb::dict made;
    made["name"] = size.name;
    made["default"] = size.fallback;
    made["unit"] = size.unit;
    made["limit"] = size.limit;
    made["optional"] = size.optional || size.stride_of != nullptr;
    made["stride"] = size.stride_of != nullptr;
    sizes.append(made);
  }
  info["sizes"] = sizes;
  nb::dict choices;
  for (const Choice& choice : space.choices) {
    nb::list values;
    for (const ParamValue& value : choice.values) std::visit([&](const auto& v) { values.append(nb::cast(v)); }, value);
    choices[choice.name] = values;
  }
  info["choices"] = choices;
  nb::list variants;
  for (const Variant& one : variants_of(op)) {
    nb::dict made;
    made["name"] = one.name;
    made["isa"] = std::string(isa_name(one.isa));
    made["runs_here"] = isa_supported(one.isa);
    variants.append(made);
  }
  info["variants"] = variants;
  return info;
}

nb::list signature(const std::string& name, const nb::dict& params) {
  return specs_to(signature_of(require_op(name), params_from(params)));
}

nb::dict dtypes() {
  nb::dict all;
  for (const DTypeInfo& one : kDTypes) all[std::string(one.name).c_str()] = nb::make_tuple(one.size, one.numbers);
  return all;
}

}  // namespace

void bind_ops(nb::module_& module) {
  module.def("op_names", [] { return strings_to(op_names()); });
  module.def("op_info", op_info, nb::arg("op"));
  module.def("signature", signature, nb::arg("op"), nb::arg("params"));
  module.def("dtypes", dtypes, "Of each element type its bytes, and the numbers that it holds.");
}

}  // namespace assay::python
