#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "golden/atomic_file.h"
#include "golden/sha256.h"
#include "harness/cli/cli.h"
#include "harness/cli/runner_options.h"
#include "harness/cli/shape.h"
#include "harness/cli/status_line.h"
#include "harness/reports/report.h"
#include "harness/verdict/bench/bench_report.h"
#include "harness/verdict/bench/gate.h"
#include "harness/verdict/bench/record.h"
#include "harness/verdict/cases.h"
#include "harness/verdict/shell.h"

namespace assay::cli {
namespace {

struct BenchCliOptions {
  std::vector<std::string> ops;
  std::vector<std::string> isas;
  std::string shape;
  std::string baseline;
  std::string output;
  std::string record;
  bool warm = false;
  bool cold = false;
  RunnerCliOptions runner;
  std::string checks;
  std::string variant;
};

std::vector<bench::Temperature> temperatures(const BenchCliOptions& options) {
  if (options.warm && options.cold) return {bench::Temperature::cold, bench::Temperature::warm};
  return {options.warm ? bench::Temperature::warm : bench::Temperature::cold};
}

// The shape, complete, of the one op that it is of.
std::optional<Params> shape_of(const BenchCliOptions& options) {
  if (options.shape.empty()) return std::nullopt;
  if (options.ops.size() != 1) throw std::invalid_argument("--shape is of one op: name it");
  const Op& op = require_op(options.ops[0]);
  Params params = complete_params(op, parse_shape(options.shape));
  signature_of(op, params);  // throws where there is no such shape
  return params;
}

std::vector<bench::BenchItem> items(const BenchCliOptions& options, std::span<const RemoteKernel> plugins) {
  std::vector<const Op*> chosen;
  for (const std::string& op : named_ops(options.ops)) chosen.push_back(&require_op(op));
  if (chosen.empty()) chosen.assign(ops().begin(), ops().end());
  const std::optional<Params> shape = shape_of(options);
  std::vector<std::optional<Isa>> isas;
  for (const Isa isa : wanted_isas(options.isas, false)) {
    if (isa_row(isa).is_model())
      throw std::invalid_argument(std::string(isa_name(isa)) + " is a model in software: it is checked, never timed");
    isas.emplace_back(isa);
  }
  if (isas.empty()) isas.emplace_back();  // all
  std::vector<bench::BenchItem> all;
  const auto add = [&](const Op& op, std::vector<Variant> variants) {
    std::erase_if(variants, [&](const Variant& one) { return !options.variant.empty() && !matches(options.variant, one.name); });
    for (const std::optional<Isa> isa : isas) {
      for (bench::BenchItem& item : bench::bench_items(op, variants, isa, shape, temperatures(options)))
        all.push_back(std::move(item));
    }
  };
  for (const Op* op : chosen) add(*op, plugins.empty() ? variants_of(*op) : variants_of(*op, plugins));
  if (all.empty()) throw std::invalid_argument("nothing to time: no such variant");
  return all;
}

std::vector<bench::BenchResult> run_with_status_line(const BenchCliOptions& options, std::span<const RemoteKernel> plugins,
                                                     const bench::BenchOptions& how) {
  StatusLine line;
  return bench::run_benchmarks(items(options, plugins), how, [&](const bench::BenchResult& one) { line.show(one.name); });
}

int run_bench(const BenchCliOptions& options, const Common& common) {
  std::optional<bench::Baseline> baseline;
  if (!options.baseline.empty()) baseline = bench::load_baseline(options.baseline);
  bench::BenchOptions how;
  const std::optional<RunnerOptions> runner = options.runner.options();
  std::vector<RemoteKernel> plugins;
  std::vector<bench::RecordedPlugin> recorded;
  std::string isolation;
  if (!options.record.empty() && !runner) throw std::invalid_argument("--record is of plugins: name one by --plugin");
  if (runner) {
    const RemoteRunner tried(*runner);
    plugins = tried.kernels();
    isolation = tried.isolation();
    for (const RemotePlugin& one : tried.plugins()) recorded.push_back({one.path, one.name, one.version, sha256_file(one.path)});
  }
  const Checks checks = options.checks.empty() ? Checks::from_environment() : Checks::parse(options.checks);
  if (runner && !checks.off_to_string().empty()) fmt::print(stderr, "checks off: {}\n", checks.off_to_string());
  how.gate = bench::parity_gate(runner, checks);
  how.runner = runner;
  how.checks = checks;
  const auto results = run_with_status_line(options, plugins, how);

  nlohmann::ordered_json json = bench::bench_json(results);
  json["assay"] = environment_json();
  if (runner) json["checks_off"] = checks.off_to_string();
  if (runner) json["isolation"] = isolation;
  if (!options.output.empty()) write_file_atomically(options.output, json.dump(1) + "\n");
  if (!options.record.empty()) write_file_atomically(options.record, bench::record_json(json, recorded).dump(1) + "\n");
  if (baseline) json["comparison"] = bench::comparison_json(bench::compare(*baseline, results));
  if (common.json) {
    fmt::print("{}\n", json.dump(1));
  } else {
    if (runner) fmt::print("isolation: {}\n\n", isolation);
    fmt::print("{}", bench::bench_table(results, common.style()));
    if (baseline) fmt::print("\n{}", bench::comparison_table(bench::compare(*baseline, results), common.style()));
  }
  return std::ranges::all_of(results, &bench::BenchResult::timed) ? kPass : kParityFailure;
}

}  // namespace

Action add_bench(CLI::App& app, const Common& common) {
  auto options = std::make_shared<BenchCliOptions>();
  CLI::App* command = app.add_subcommand("bench", "Time kernels that pass, in percent of this machine's measured roof");
  command->add_option("op", options->ops, "Ops to time, or patterns such as 'gemm_*'; none: all");
  add_isas(*command, options->isas);
  command->add_option("--shape", options->shape, "Sizes, such as n=3072,k=1024; without it the op's own shapes");
  command->add_flag("--cold", options->cold,
                    "Weights from memory: rotate over more than four times the last cache (the default)");
  command->add_flag("--warm", options->warm, "The same buffers again and again");
  command->add_option("--baseline", options->baseline, "Compare with an older JSON of this command or of Google Benchmark");
  command->add_option("-o,--output", options->output, "Write the JSON to a file as well");
  command->add_option("--record", options->record, "Write what `assay verify` needs to judge a plugin's run again");
  command->add_option("--variant", options->variant,
                      "Only this variant, or those of a pattern, such as mine:rms_norm or 'mine:*'");
  options->runner.add_plugins_to(*command);
  command->add_option("--checks", options->checks, "The checks that a plugin's kernel must pass to be timed, such as guard");
  command->footer("Example: assay bench matvec_f16 --isa avx2 --shape n=3072,k=1024 --output before.json");
  return [options, &common] { return run_bench(*options, common); };
}

}  // namespace assay::cli
