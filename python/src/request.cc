#include "python/src/request.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "harness/interop/plugin/properties.h"
#include "harness/verdict/strided.h"

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

std::optional<RunnerOptions> runner_from(const nb::dict& given) {
  RunnerOptions options;
  take_member(given, "plugins", options.plugins);
  if (options.plugins.empty()) return std::nullopt;
  std::string isolation = "auto";
  take_member(given, "isolation", isolation);
  using Wish = IsolationRequest::Wish;
  options.isolation.wish = isolation == "none" ? Wish::none : isolation == "required" ? Wish::required : Wish::automatic;
  take_member(given, "allow_read", options.isolation.readable);
  take_member(given, "declared", options.declared);
  double limit = static_cast<double>(kDefaultLimit.count()) / 1000;
  take_member(given, "time_limit", limit);
  options.limit = std::chrono::milliseconds(static_cast<std::int64_t>(limit * 1000));
  return options;
}

}  // namespace

CheckRequest request_from(const nb::dict& given) {
  CheckRequest request;
  request.drawn_digests = true;
  take_member(given, "ops", request.ops);
  take_member(given, "case", request.case_name);
  take_member(given, "tag", request.tag);
  take_member(given, "variant", request.variant);
  take_member(given, "seed", request.seed);
  take_member(given, "shapes", request.shapes);
  take_member(given, "random_cases", request.random_cases);
  take_member(given, "kept_bytes", request.kept_bytes);
  std::string checks;
  take_member(given, "checks", checks);
  if (!checks.empty()) request.checks = Checks::parse(checks);
  if (given.contains("shape") || given.contains("data")) {
    GeneratedRequest& generated = request.generated.emplace();
    if (given.contains("shape")) generated.shape = params_from(nb::cast<nb::dict>(given["shape"]));
    take_member(given, "data", generated.data);
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

}  // namespace assay::python
