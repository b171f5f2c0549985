// Goldens, and the reference at the user's own inputs.
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "golden/manifest.h"
#include "harness/verdict/suite.h"
#include "python/src/convert.h"
#include "python/src/laid.h"
#include "reference/ops/status.h"

namespace assay::python {
namespace {

GoldenFile golden_of(const Op& op) {
  const std::filesystem::path path = own_golden() / "ops" / fmt::format("{}.h5", op.name);
  const bool listed = Manifest(own_golden()).verify(path);
  return GoldenFile(path, listed ? Hdf5Origin::known : Hdf5Origin::stranger);
}

std::vector<Array> arrays_from(const nb::list& arrays) {
  std::vector<Array> all;
  for (const nb::handle one : arrays) all.push_back(array_from(one));
  return all;
}

nb::list expected_of(const Op& op, const TestCase& test) {
  std::vector<reference::Expected> expected;
  {
    const nb::gil_scoped_release others;
    const Laid laid(op, test.params, test.inputs);
    expected = expected_outputs(op, test, laid.pointers());
  }
  nb::list all;
  for (const reference::Expected& one : expected) all.append(expected_to(one));
  return all;
}

nb::dict read_case(const std::string& name, const std::string& case_name) {
  const Op& op = require_op(name);
  const TestCase test = case_from_golden(op, golden_of(op), case_name);
  nb::dict made;
  made["name"] = test.name;
  made["source"] = test.source;
  made["tags"] = strings_to(test.tags);
  made["status"] = std::string(status_name(test.status));
  made["params"] = params_to(test.params);
  made["signature"] = specs_to(signature_of(op, test.params));
  made["inputs"] = arrays_to(test.inputs);
  made["expected"] = test.status == ASSAY_OK ? expected_of(op, test) : nb::list();
  return made;
}

// Throws std::invalid_argument where the op refuses the call.
TestCase own_case(const Op& op, const nb::dict& params, const nb::list& inputs) {
  TestCase test;
  test.params = params_from(params);
  test.inputs = arrays_from(inputs);
  const Laid laid(op, test.params, test.inputs);
  const AssayStatus status = required_status(op, test.params, laid.pointers());
  if (status != ASSAY_OK)
    throw std::invalid_argument(fmt::format("kernels refuse this call, {}: {}", status_name(status), test.params.to_string()));
  return test;
}

nb::list reference_at(const std::string& name, const nb::dict& params, const nb::list& inputs) {
  const Op& op = require_op(name);
  return expected_of(op, own_case(op, params, inputs));
}

nb::list compare_at(const std::string& name, const nb::dict& params, const nb::list& inputs, const nb::list& outputs) {
  const Op& op = require_op(name);
  const TestCase test = own_case(op, params, inputs);
  const std::vector<Array> got = arrays_from(outputs);
  const Laid laid(op, test.params, test.inputs);
  const std::vector<reference::Expected> expected = expected_outputs(op, test, laid.pointers());
  nb::list all;
  std::size_t o = 0;
  for (const TensorSpec& spec : laid.signature().tensors) {
    if (spec.role == Direction::in) continue;
    all.append(comparison_to(spec, compare_output(op, spec, expected[o], nullptr, got[o])));
    ++o;
  }
  return all;
}

}  // namespace

void bind_truth(nb::module_& module) {
  module.def(
      "case_names", [](const std::string& op) { return golden_of(require_op(op)).case_names(); }, nb::arg("op"));
  module.def("read_case", read_case, nb::arg("op"), nb::arg("case"));
  module.def("reference", reference_at, nb::arg("op"), nb::arg("params"), nb::arg("inputs"));
  module.def("compare", compare_at, nb::arg("op"), nb::arg("params"), nb::arg("inputs"), nb::arg("outputs"));
}

}  // namespace assay::python
