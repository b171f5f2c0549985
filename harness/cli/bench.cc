#include <fmt/format.h>

#include <memory>

#include "golden/atomic_file.h"
#include "harness/bench/bench_report.h"
#include "harness/bench/gate.h"
#include "harness/cases.h"
#include "harness/cli/cli.h"
#include "harness/cli/shape.h"
#include "harness/cli/status_line.h"
#include "harness/report.h"

namespace assay::cli {
namespace {

struct BenchCliOptions {
  std::vector<std::string> ops;
  std::string isa;
  std::string shape;
  std::string baseline;
  std::string output;
  bool warm = false;
  bool cold = false;
};

std::vector<bench::Temperature> temperatures(const BenchCliOptions& options) {
  if (options.warm && options.cold) return {bench::Temperature::cold, bench::Temperature::warm};
  return {options.warm ? bench::Temperature::warm : bench::Temperature::cold};
}

std::vector<bench::BenchItem> items(const BenchCliOptions& options) {
  std::vector<const Adapter*> chosen;
  for (const std::string& op : options.ops) chosen.push_back(&require_adapter(op));
  if (chosen.empty()) chosen.assign(adapters().begin(), adapters().end());
  std::optional<Params> shape;
  if (!options.shape.empty()) {
    if (chosen.size() != 1) throw std::invalid_argument("--shape is of one op: name it");
    shape = complete_params(*chosen.front(), parse_shape(options.shape));
  }
  const std::optional<Isa> isa = options.isa.empty() ? forced_isa() : std::optional(require_isa(options.isa));
  auto all = bench::bench_items(chosen, isa, shape, temperatures(options));
  if (all.empty()) throw std::invalid_argument("nothing to time: no such variant");
  return all;
}

std::vector<bench::BenchResult> run_with_status_line(const BenchCliOptions& options, const bench::BenchOptions& how) {
  const StatusLine line;
  return bench::run_benchmarks(items(options), how, [&](const bench::BenchResult& one) { line.show(one.name); });
}

int run_bench(const BenchCliOptions& options, const Common& common) {
  std::optional<bench::Baseline> baseline;
  if (!options.baseline.empty()) baseline = bench::load_baseline(options.baseline);
  bench::BenchOptions how;
  how.gate = bench::parity_gate();
  const auto results = run_with_status_line(options, how);

  nlohmann::ordered_json json = bench::bench_json(results);
  json["assay"] = environment_json();
  if (!options.output.empty()) write_file_atomically(options.output, json.dump(1) + "\n");
  if (baseline) json["comparison"] = bench::comparison_json(bench::compare(*baseline, results));
  if (common.json) {
    fmt::print("{}\n", json.dump(1));
  } else {
    fmt::print("{}", bench::bench_table(results, common.style()));
    if (baseline) fmt::print("\n{}", bench::comparison_table(bench::compare(*baseline, results), common.style()));
  }
  const bool refused =
      std::any_of(results.begin(), results.end(), [](const bench::BenchResult& r) { return !r.refusal.empty(); });
  return refused ? kParityFailure : kPass;
}

}  // namespace

Action add_bench(CLI::App& app, const Common& common) {
  auto options = std::make_shared<BenchCliOptions>();
  CLI::App* command = app.add_subcommand("bench", "Time kernels that pass, in percent of this machine's measured roof");
  command->add_option("op", options->ops, "Ops to time; none: all");
  command->add_option("--isa", options->isa, "Only variants of this ISA");
  command->add_option("--shape", options->shape, "Sizes, such as n=3072,k=1024; without it the op's own shapes");
  command->add_flag("--cold", options->cold,
                    "Weights from memory: rotate over more than four times the last cache (the default)");
  command->add_flag("--warm", options->warm, "The same buffers again and again");
  command->add_option("--baseline", options->baseline, "Compare with an older JSON of this command or of Google Benchmark");
  command->add_option("-o,--output", options->output, "Write the JSON to a file as well");
  command->footer("Example: assay bench matvec_f16 --isa avx2 --shape n=3072,k=1024 --output before.json");
  return [options, &common] { return run_bench(*options, common); };
}

}  // namespace assay::cli
