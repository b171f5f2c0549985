// The verdict: the suite of `assay check`, with a plugin's kernels or with callables of Python.
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include "harness/interop/plugin/properties.h"
#include "harness/reports/report.h"
#include "harness/reports/suite_text.h"
#include "harness/verdict/strided.h"
#include "harness/verdict/suite.h"
#include "python/src/convert.h"

namespace assay::python {
namespace {

// Runs calls by `exchange(scalars, signature, inputs)`, which returns a list of the outputs' bytes, or says in a string what befell the call. What
// it raises (ctrl-C, a fault of the package's own) ends the suite.
class PythonExecutor final : public Executor {
 public:
  explicit PythonExecutor(nb::object exchange) : exchange_(std::move(exchange)) {}

  Execution run(const Call& call, std::span<const CallPart> parts, const Manner& /*manner*/) override {
    const nb::gil_scoped_acquire python;
    Execution result;
    result.placed = false;
    for (const CallPart& part : parts) {
      const Signature signature = signature_of(call.op(), part.params);
      nb::list inputs;
      for (std::size_t t = 0; t < signature.tensors.size(); ++t) {
        const TensorSpec& spec = signature.tensors[t];
        if (spec.role == Direction::in) inputs.append(array_to(gather(spec, part.pointers[t])));
      }
      const nb::object answer = exchange_(scalars_of(call.op(), part), specs_to(signature), inputs);
      if (nb::isinstance<nb::str>(answer)) {
        result.failure = nb::cast<std::string>(answer);
        return result;
      }
      write_outputs(signature, part, nb::cast<nb::list>(answer));
    }
    return result;
  }

 private:
  static void write_outputs(const Signature& signature, const CallPart& part, const nb::list& answer) {
    std::size_t o = 0;
    for (std::size_t t = 0; t < signature.tensors.size(); ++t) {
      const TensorSpec& spec = signature.tensors[t];
      if (spec.role == Direction::in) continue;
      const auto bytes = nb::cast<Bytes>(answer[o++]);
      Array output{spec.dtype, spec.shape, {bytes.data(), bytes.data() + bytes.size()}};
      scatter(spec, output, part.pointers[t]);
    }
  }

  nb::object exchange_;
};

// What of the request Python gives: the members of this dict, each optional.
template <class T>
void take(const nb::dict& given, const char* name, T& into) {
  if (given.contains(name) && !given[name].is_none()) into = nb::cast<T>(given[name]);
}

std::optional<RunnerOptions> runner_from(const nb::dict& given) {
  RunnerOptions options;
  take(given, "plugins", options.plugins);
  if (options.plugins.empty()) return std::nullopt;
  std::string isolation = "auto";
  take(given, "isolation", isolation);
  using Wish = IsolationRequest::Wish;
  options.isolation.wish = isolation == "none" ? Wish::none : isolation == "required" ? Wish::required : Wish::automatic;
  take(given, "allow_read", options.isolation.readable);
  take(given, "declared", options.declared);
  double limit = static_cast<double>(kDefaultLimit.count()) / 1000;
  take(given, "time_limit", limit);
  options.limit = std::chrono::milliseconds(static_cast<std::int64_t>(limit * 1000));
  return options;
}

CheckRequest request_from(const nb::dict& given) {
  CheckRequest request;
  take(given, "ops", request.ops);
  take(given, "case", request.case_name);
  take(given, "tag", request.tag);
  take(given, "variant", request.variant);
  take(given, "seed", request.seed);
  take(given, "shapes", request.shapes);
  take(given, "random_cases", request.random_cases);
  take(given, "kept_bytes", request.kept_bytes);
  std::string checks;
  take(given, "checks", checks);
  if (!checks.empty()) request.checks = Checks::parse(checks);
  if (given.contains("shape") || given.contains("data")) {
    GeneratedRequest& generated = request.generated.emplace();
    if (given.contains("shape")) generated.shape = params_from(nb::cast<nb::dict>(given["shape"]));
    take(given, "data", generated.data);
    generated.seed = request.seed;
    request.generated_cases = std::max<std::int64_t>(request.random_cases, 1);
  }
  request.runner = runner_from(given);
  if (given.contains("callables")) {
    for (const nb::handle one : nb::cast<nb::list>(given["callables"])) {
      const auto parts = nb::cast<nb::tuple>(one);
      request.callables.push_back({nb::cast<std::string>(parts[0]), nb::cast<std::string>(parts[1]),
                                   std::make_shared<PythonExecutor>(nb::borrow(parts[2])),
                                   Traits::parse(nb::cast<std::string>(parts[3]).c_str())});
    }
  }
  return request;
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
    take(given, "isolation", isolation);
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
