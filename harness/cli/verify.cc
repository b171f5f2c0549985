#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "golden/sha256.h"
#include "harness/cli/cli.h"
#include "harness/cli/runner_options.h"
#include "harness/cli/shape.h"
#include "harness/cli/status_line.h"
#include "harness/reports/report.h"
#include "harness/verdict/bench/gate.h"
#include "harness/verdict/bench/record.h"
#include "harness/verdict/cases.h"
#include "harness/verdict/declaration.h"

namespace assay::cli {
namespace {

struct VerifyOptions {
  std::string record;
  RunnerCliOptions runner;
};

// A benchmark of the record, made again.
struct Again {
  bench::RecordedItem then;
  bench::BenchResult now;
  bool confirmed() const { return now.timed() && now.outputs == then.digest; }
};

std::string said(const Again& one) {
  if (!one.now.timed()) return one.now.failure + one.now.refusal;
  return one.confirmed() ? "outputs confirmed" : "outputs differ";
}

std::vector<bench::BenchItem> items_of(const bench::Record& record, std::span<const RemoteKernel> kernels) {
  std::vector<bench::BenchItem> items;
  for (const bench::RecordedItem& one : record.items) {
    const Op& op = require_op(one.op);
    std::vector<Variant> variants = variants_of(op, kernels);
    const auto variant = std::ranges::find(variants, one.variant, &Variant::name);
    if (variant == variants.end()) throw std::invalid_argument("the plugins have no kernel " + one.variant + " of " + one.op);
    variant->traits = declared_also(op, variant->canonical, variant->traits, record.declared);
    items.push_back({&op, *variant, complete_params(op, parse_shape(one.shape)), one.temperature, one.seed});
  }
  return items;
}

// The files of the record, by their contents.
std::vector<std::string> other_files(const bench::Record& record, const std::vector<std::string>& paths) {
  std::vector<std::string> lines;
  for (const bench::RecordedPlugin& one : record.plugins) {
    const bool there = std::ranges::any_of(paths, [&](const std::string& path) { return sha256_file(path) == one.sha256; });
    if (!there)
      lines.push_back(fmt::format("{} {} is another file than the record's (sha256 {})", one.name, one.version, one.sha256));
  }
  return lines;
}

nlohmann::ordered_json verified_json(const std::vector<Again>& all, const std::vector<std::string>& others) {
  nlohmann::ordered_json json{
      {"assay", environment_json()}, {"other_files", others}, {"benchmarks", nlohmann::ordered_json::array()}};
  for (const Again& one : all) {
    json["benchmarks"].push_back({{"name", one.now.name},
                                  {"outputs", said(one)},
                                  {"confirmed", one.confirmed()},
                                  {"time_then", 1e9 * one.then.seconds},
                                  {"time_now", one.now.timed() ? nlohmann::ordered_json(1e9 * one.now.seconds) : nullptr}});
  }
  return json;
}

int run_verify(const VerifyOptions& options, const Common& common) {
  const bench::Record record = bench::read_record(options.record);
  std::optional<RunnerOptions> runner = options.runner.options();
  if (!runner || runner->plugins.empty()) throw std::invalid_argument("expected --plugin, the library that the record is of");
  runner->declared = record.declared;
  bench::BenchOptions how;
  how.gate = bench::parity_gate(runner, Checks::all());
  how.runner = runner;
  StatusLine line;
  const auto results = bench::run_benchmarks(items_of(record, RemoteRunner(*runner).kernels()), how,
                                             [&](const bench::BenchResult& one) { line.show(one.name); });
  std::vector<Again> all;
  for (std::size_t i = 0; i < results.size(); ++i) all.push_back({record.items[i], results[i]});
  const std::vector<std::string> others = other_files(record, runner->plugins);
  if (common.json) {
    fmt::print("{}", json_text(verified_json(all, others)));
  } else {
    Table table({"benchmark", "outputs", ">ns then", ">ns now"});
    for (const Again& one : all) {
      table.add({one.now.name, said(one), fmt::format("{:.0f}", 1e9 * one.then.seconds),
                 one.now.timed() ? fmt::format("{:.0f}", 1e9 * one.now.seconds) : "-"});
    }
    fmt::print("{}", table.render(common.style()));
    for (const std::string& other : others) fmt::print("{}\n", other);
    fmt::print("Times are measured anew and put beside; nothing confirms them.\n");
  }
  const bool confirmed = !all.empty() && others.empty() && std::ranges::all_of(all, &Again::confirmed);
  return confirmed ? kPass : kParityFailure;
}

}  // namespace

Action add_verify(CLI::App& app, const Common& common) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app.add_subcommand("verify", "Repeat a plugin's recorded run and compare the outputs");
  command->add_option("record", options->record, "What `assay bench --record` wrote")->required();
  options->runner.add_plugins_to(*command);
  options->runner.add_fork_to(*command);
  command->footer("Example: assay verify run.json --plugin ./mine.so");
  return [options, &common] { return run_verify(*options, common); };
}

}  // namespace assay::cli
