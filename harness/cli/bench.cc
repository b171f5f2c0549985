#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "golden/output_rule.h"
#include "golden/sha256.h"
#include "harness/cli/cli.h"
#include "harness/cli/late_file.h"
#include "harness/cli/process.h"
#include "harness/cli/runner_options.h"
#include "harness/cli/shape.h"
#include "harness/cli/status_line.h"
#include "harness/cli/values.h"
#include "harness/reports/report.h"
#include "harness/verdict/bench/bench_report.h"
#include "harness/verdict/bench/comparison.h"
#include "harness/verdict/bench/foreign.h"
#include "harness/verdict/bench/gate.h"
#include "harness/verdict/bench/record.h"
#include "harness/verdict/cases.h"
#include "harness/verdict/declaration.h"
#include "harness/verdict/shell.h"

namespace assay::cli {
namespace {

struct BenchCliOptions {
  std::vector<std::string> ops;
  std::vector<std::string> isas;
  std::string shape;
  std::string baseline;
  std::string baseline_plugin;
  std::string fail_slower;
  std::int64_t runs = 1;
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

std::vector<bench::BenchItem> items(const BenchCliOptions& options, std::span<const RemoteKernel> plugins,
                                    const std::string& declared) {
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
    for (Variant& one : variants) one.traits = declared_also(op, one.canonical, one.traits, declared);
    for (const std::optional<Isa> isa : isas) {
      for (bench::BenchItem& item : bench::bench_items(op, variants, isa, shape, temperatures(options)))
        all.push_back(std::move(item));
    }
  };
  for (const Op* op : chosen) add(*op, plugins.empty() ? variants_of(*op) : variants_of(*op, plugins));
  if (all.empty())
    throw std::invalid_argument("nothing to time: no variant is " +
                                (options.variant.empty() ? "of this ISA" : "'" + options.variant + "'") +
                                "; `assay list` has their names");
  return all;
}

std::vector<bench::BenchResult> run_with_status_line(const std::vector<bench::BenchItem>& all, const bench::BenchOptions& how) {
  StatusLine line;
  std::size_t done = 0;
  return bench::run_benchmarks(all, how, [&](const bench::BenchResult& one) {
    line.show(fmt::format("{} of {} benchmarks, the last {}", ++done, all.size(), one.name));
  });
}

// "5%" or "5": the part of its speed that a kernel may lose.
double allowed_loss(const std::string& text) {
  if (text.empty()) return bench::kNotable;
  std::string_view number = text;
  if (number.ends_with('%')) number.remove_suffix(1);
  double percent = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), percent);
  if (error != std::errc() || end != number.data() + number.size() || !(percent > 0 && percent < 100))
    throw std::invalid_argument(fmt::format("--fail-slower '{}': expected a percentage above 0 and below 100, such as 5%", text));
  return percent / 100;
}

// What the run is compared with: an older JSON, an older plugin, or nothing.
struct Against {
  std::optional<bench::Baseline> baseline;
  bool in_turn = false;
  double allowed = bench::kNotable;

  explicit operator bool() const { return baseline || in_turn; }
  bench::Changes changes(const std::vector<bench::BenchResult>& results) const {
    return baseline ? bench::compare(*baseline, results, allowed) : bench::compare_in_turn(results, allowed);
  }
  // Whether this was the benchmark's last run.
  bool enough(const bench::BenchResult& now) const {
    const bench::Changes one = changes({now});
    return one.changes.empty() || bench::settled(one.changes.front(), allowed);
  }
};

Against against(const BenchCliOptions& options, const std::optional<RunnerOptions>& runner, bench::BenchOptions& how) {
  Against out{
      .baseline = std::nullopt, .in_turn = !options.baseline_plugin.empty(), .allowed = allowed_loss(options.fail_slower)};
  if (!options.baseline.empty() && out.in_turn) throw std::invalid_argument("--baseline and --baseline-plugin: name one");
  if (!options.fail_slower.empty() && options.baseline.empty() && !out.in_turn)
    throw std::invalid_argument("--fail-slower needs --baseline or --baseline-plugin: what to compare with");
  if (!options.baseline.empty()) {
    out.baseline = bench::load_baseline(options.baseline);
    const std::string cpu = environment_json().at("cpu");
    if (!options.fail_slower.empty() && !out.baseline->cpu.empty() && out.baseline->cpu != cpu)
      throw std::invalid_argument(fmt::format(
          "{}: nothing to compare: it is of '{}', this CPU is '{}'; make a baseline here: assay bench --runs {} -o FILE",
          options.baseline, out.baseline->cpu, cpu, bench::kLeastRuns));
  }
  if (out.in_turn) {
    if (!runner) throw std::invalid_argument("--baseline-plugin is the older of two plugins: name the newer by --plugin");
    how.old_runner = bench::without_plugins(*runner);
    how.old_runner->plugins = {std::filesystem::absolute(options.baseline_plugin).string()};
    const RemoteRunner tried(*how.old_runner);
    for (const RemoteKernel& one : tried.kernels()) {
      if (!one.plugin.empty()) how.old_kernels.push_back(one);
    }
  }
  return out;
}

// Nothing compared is no pass: 2.
int exit_code(const std::vector<bench::BenchResult>& results, const std::optional<bench::Changes>& changes, bool judged) {
  if (!std::ranges::all_of(results, &bench::BenchResult::timed)) return kParityFailure;
  if (!changes || !judged) return kPass;
  if (changes->slower()) return kParityFailure;
  const bool compared =
      std::ranges::any_of(changes->changes, [](const bench::Change& one) { return one.pace != bench::Pace::unknown; });
  return compared ? kPass : kWrongUse;
}

int run_bench(const BenchCliOptions& options, const Common& common) {
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
  const Against old = against(options, runner, how);
  if (options.runs > 1 || old) {
    how.enough = [&](const bench::BenchResult& now) {
      return std::ssize(now.readings) >= options.runs && (!old || old.enough(now));
    };
  }
  const NotedInterrupt interrupt;
  LateFile output(options.output, kOwnJson);
  LateFile record(options.record, kOwnJson);
  const std::vector<bench::BenchItem> all = items(options, plugins, runner ? runner->declared : "");
  how.stop = [] { return NotedInterrupt::signal() != 0; };
  const auto results = run_with_status_line(all, how);
  const bool interrupted = how.stop();

  nlohmann::ordered_json json = bench::bench_json(results);
  json["assay"] = environment_json();
  if (interrupted) json["interrupted"] = true;
  if (runner) json["checks_off"] = checks.off_to_string();
  if (runner) json["isolation"] = isolation;
  if (runner && !runner->declared.empty()) json["declared"] = runner->declared;
  record.write([&] { return json_text(bench::record_json(json, recorded)); });
  std::optional<bench::Changes> changes;
  if (old) {
    changes = old.changes(results);
    json["comparison"] = bench::comparison_json(*changes);
  }
  output.write([&] { return json_text(json); });
  if (common.json) {
    fmt::print("{}", json_text(json));
  } else {
    if (runner) fmt::print("isolation: {}\n\n", isolation);
    fmt::print("{}", bench::bench_table(results, common.style()));
    if (changes) fmt::print("\n{}", bench::comparison_table(*changes, common.style()));
    if (interrupted) fmt::print("interrupted: {} of {} benchmarks were timed\n", results.size(), all.size());
  }
  if (interrupted) return kSignalled + NotedInterrupt::signal();
  return exit_code(results, changes, !options.fail_slower.empty());
}

}  // namespace

Action add_bench(CLI::App& app, const Common& common) {
  auto options = std::make_shared<BenchCliOptions>();
  CLI::App* command = app.add_subcommand(
      "bench", "Time kernels that pass, as a percentage of the roof: the best that this machine was measured to do");
  command->add_option("op", options->ops, "Ops to time, or patterns such as 'gemm_*'; none: all");
  add_isas(*command, options->isas);
  command->add_option("--shape", options->shape, "Sizes, such as n=3072,k=1024; without it the op's own shapes");
  command->add_flag("--cold", options->cold,
                    "Read weights from memory: rotate over more than four times the last-level cache (the default)");
  command->add_flag("--warm", options->warm, "Use the same buffers again and again");
  command
      ->add_option("--runs", options->runs,
                   "Runs of each benchmark, each a process with memory of its own; a baseline needs 5, on a noisy machine 25")
      ->check(whole(1, bench::kMostRuns));
  command->add_option("--baseline", options->baseline,
                      "Compare with an older JSON of this command (--runs 5 -o FILE) or of Google Benchmark");
  command->add_option("--baseline-plugin", options->baseline_plugin,
                      "Compare with an older build of the plugin, timed in turn with this one");
  command->add_option(
      "--fail-slower", options->fail_slower,
      "Exit 1 if a kernel is certainly slower than the baseline by more than this, such as 5%; 2 if nothing could be compared");
  command->add_option("-o,--output", options->output, "Write the JSON to a file as well");
  command->add_option("--record", options->record, "Write what `assay verify` needs to judge a plugin's run again");
  command->add_option("--variant", options->variant,
                      "Only this variant, or those of a pattern, such as mine:rms_norm or 'mine:*'");
  options->runner.add_plugins_to(*command);
  options->runner.add_declare_to(*command);
  command->add_option("--checks", options->checks, "The checks that a plugin's kernel must pass to be timed, such as guard");
  command->footer("Example: assay bench matvec_f16 --isa avx2 --shape n=3072,k=1024 --output before.json");
  return [options, &common] { return run_bench(*options, common); };
}

}  // namespace assay::cli
