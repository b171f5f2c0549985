// The verdict: the suite of `assay check`, with a plugin's kernels or with callables of Python.
#include <nanobind/stl/string.h>

#include <nlohmann/json.hpp>

#include "harness/reports/report.h"
#include "harness/reports/suite_text.h"
#include "harness/verdict/suite.h"
#include "python/src/convert.h"
#include "python/src/request.h"

namespace assay::python {
namespace {

class PythonWatch final : public SuiteWatch {
 public:
  explicit PythonWatch(const nb::object& progress) : progress_(progress) {}
  void case_done(const CaseResult& one) override {
    const nb::gil_scoped_acquire python;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress_.is_none()) progress_(one.op, one.variant, one.case_name);
  }

 private:
  const nb::object& progress_;
};

// {"json", "table", "isolation", "calls": of each case that did not pass its call or None}.
nb::dict check(const nb::dict& given, const nb::object& progress) {
  const CheckRequest request = request_from(given);
  SuiteResult result;
  {
    const nb::gil_scoped_release others;
    PythonWatch watch(progress);
    result = run_suite(request, watch);
  }
  if (std::string isolation; given.contains("callables")) {
    take_member(given, "isolation", isolation);
    result.isolation = isolation;
  }
  if (given.contains("repeat")) {
    for (CaseResult& one : result.cases) one.repro = nb::cast<std::string>(given["repeat"](one.repro));
  }
  nb::dict made;
  made["json"] = suite_json(result, request).dump();
  made["table"] = suite_table(result, request.checks, Style::from_mode("never"));
  nb::list calls;
  for (const CaseResult& one : result.cases) {
    if (one.verdict != Verdict::pass) calls.append(call_to(one.call));
  }
  made["calls"] = calls;
  return made;
}

}  // namespace

void bind_check(nb::module_& module) {
  module.def("check", check, nb::arg("request"), nb::arg("progress") = nb::none());
  module.def("environment", [] { return environment_json().dump(); });
}

}  // namespace assay::python
