// Callables of Python on the clock, beside our best kernel and the roof.
#include "harness/verdict/bench/bench.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <nlohmann/json.hpp>

#include "harness/interop/remote/timed_runner.h"
#include "harness/reports/report.h"
#include "harness/verdict/bench/bench_report.h"
#include "harness/verdict/bench/timed_case.h"
#include "harness/verdict/declaration.h"
#include "harness/verdict/suite.h"
#include "python/src/convert.h"
#include "python/src/laid.h"

namespace assay::python {
namespace {

constexpr std::uint64_t kMostCopies = 64;
constexpr std::uint64_t kFirstSeed = 1;

// `timer` has the callable: prepare(scalars, signature, inputs of each copy), round(seconds) -> (processor seconds, wall seconds, threads) of a
// call, and kept() -> (number of a copy, outputs of the last call with it), or in a string what befell it.
class TimedCallable final : public bench::Subject {
 public:
  TimedCallable(nb::object timer, const bench::BenchItem& item, double round_seconds)
      : timer_(std::move(timer)),
        op_(*item.op),
        how_(arithmetic_of(op_, item.variant.traits.words())),
        timed_(op_, item.params, item.temperature, ""),
        copies_(std::min(timed_.slots(), kMostCopies)),
        evicts_(timed_.evicts() || (item.temperature == bench::Temperature::cold && copies_ < timed_.slots())),
        round_seconds_(round_seconds) {
    const nb::gil_scoped_acquire python;
    nb::list copies;
    for (std::uint64_t copy = 0; copy < copies_; ++copy) copies.append(arrays_to(timed_.case_of(kFirstSeed + copy, 1).inputs));
    const Laid laid(op_, item.params, timed_.case_of(kFirstSeed, 1).inputs);
    const CallPart part{item.params, {laid.pointers().begin(), laid.pointers().end()}};
    answer(timer_.attr("prepare")(scalars_of(op_, part), specs_to(timed_.signature()), copies));
  }

  bool evicts() const override { return evicts_; }

  bench::CallTime round() override {
    const nb::gil_scoped_acquire python;
    const auto time = nb::cast<nb::tuple>(answer(timer_.attr("round")(evicts_ ? 0 : round_seconds_)));
    return {.cpu = nb::cast<double>(time[0]), .wall = nb::cast<double>(time[1]), .threads = nb::cast<int>(time[2])};
  }

  std::string judge(const Checks& /*checks*/) override {
    const nb::gil_scoped_acquire python;
    const auto kept = nb::cast<nb::tuple>(answer(timer_.attr("kept")()));
    const TestCase test = timed_.case_of(kFirstSeed + nb::cast<std::uint64_t>(kept[0]), 1);
    const auto outputs = nb::cast<nb::list>(kept[1]);
    const Laid laid(op_, test.params, test.inputs);
    const std::vector<reference::Expected> expected = expected_outputs(op_, test, laid.pointers(), how_);
    std::size_t o = 0;
    for (const TensorSpec& spec : laid.signature().tensors) {
      if (spec.role == Direction::in) continue;
      const auto bytes = nb::cast<Bytes>(outputs[o]);
      const Array y{spec.dtype, spec.shape, {bytes.data(), bytes.data() + bytes.size()}};
      const Comparison found = compare_output(op_, spec, expected[o++], nullptr, y);
      const auto& miss = found.wrong_class ? found.wrong_class : found.worst;
      if ((found.wrong_class || found.margin > 1) && miss) return "a timed call is wrong: " + describe_miss(spec, *miss);
    }
    return {};
  }

 private:
  static nb::object answer(nb::object said) {
    if (nb::isinstance<nb::str>(said)) throw TimedFailure(nb::cast<std::string>(said));
    return said;
  }

  nb::object timer_;
  const Op& op_;
  reference::Arithmetic how_;
  bench::TimedCase timed_;
  std::uint64_t copies_;
  bool evicts_;
  double round_seconds_;
};

// {"json", "table"}; `refusal`: why the callable may not be timed, or empty.
nb::dict time_callable(const std::string& name, const std::string& variant, const std::string& traits, const nb::dict& shape,
                       bool warm, const nb::object& timer, const std::string& refusal) {
  const Op& op = require_op(name);
  bench::BenchOptions options;
  options.runner = RunnerOptions{};
  options.gate = [&](const Op&, const Variant&, std::string& why) { return (why = refusal).empty(); };
  options.subject = [&](const bench::BenchItem& item) {
    return std::make_unique<TimedCallable>(timer, item, options.round_seconds);
  };
  Variant callable;
  callable.name = variant;
  callable.foreign = true;
  callable.canonical = false;
  callable.traits = Traits::parse(traits.c_str());
  const auto params = shape.size() == 0 ? std::nullopt : std::optional(complete_params(op, params_from(shape)));
  const auto temperature = warm ? bench::Temperature::warm : bench::Temperature::cold;
  std::vector<bench::BenchResult> results;
  {
    const nb::gil_scoped_release others;
    results = bench::run_benchmarks(bench::bench_items(op, {callable}, std::nullopt, params, {temperature}), options);
  }
  nlohmann::ordered_json json = bench::bench_json(results);
  json["assay"] = environment_json();
  nb::dict made;
  made["json"] = json.dump();
  made["table"] = bench::bench_table(results, Style::from_mode("never"));
  return made;
}

}  // namespace

void bind_bench(nb::module_& module) {
  module.def("time_callable", time_callable, nb::arg("op"), nb::arg("variant"), nb::arg("traits"), nb::arg("shape"),
             nb::arg("warm"), nb::arg("timer"), nb::arg("refusal"));
}

}  // namespace assay::python
