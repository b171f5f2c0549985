#include <fmt/format.h>

#include <map>
#include <memory>

#include "golden/manifest.h"
#include "harness/cli/cli.h"
#include "harness/cli/runner_options.h"
#include "harness/reports/report.h"

namespace assay::cli {
namespace {

// How many cases the project's goldens hold, by op.
std::map<std::string, std::int64_t, std::less<>> golden_counts() {
  std::map<std::string, std::int64_t, std::less<>> counts;
  const Manifest manifest(own_golden());
  for (const auto& path : golden_files(own_golden())) {
    const GoldenFile file(path, manifest.verify(path) ? Hdf5Origin::known : Hdf5Origin::stranger);
    counts[file.op()] += static_cast<std::int64_t>(file.case_names().size());
  }
  return counts;
}

const char* exactness_name(const Adapter& adapter) {
  return adapter.contract().exactness == reference::Exactness::exact ? "exact" : "bounded";
}

// The plugins' kernels of an op.
std::vector<const RemoteKernel*> foreign_kernels(const Adapter& adapter, const RemoteRunner* runner) {
  std::vector<const RemoteKernel*> found;
  if (runner == nullptr) return found;
  for (const RemoteKernel& kernel : runner->kernels()) {
    if (!kernel.plugin.empty() && kernel.op == adapter.op()) found.push_back(&kernel);
  }
  return found;
}

// "avx512 avx2 scalar mine:fast", those that this CPU lacks in brackets.
std::string variant_list(const Adapter& adapter, const RemoteRunner* runner) {
  std::string out;
  for (const RemoteKernel* kernel : foreign_kernels(adapter, runner)) {
    out += (out.empty() ? "" : " ") + (kernel->runs ? kernel->variant : "(" + kernel->variant + ")");
  }
  for (const Variant& variant : adapter.variants()) {
    const std::string name(isa_name(variant.isa));
    out += (out.empty() ? "" : " ") + (isa_supported(variant.isa) ? name : "(" + name + ")");
  }
  return out;
}

int list_table(const Common& common, const std::vector<const Adapter*>& chosen, const RemoteRunner* runner) {
  const auto counts = golden_counts();
  Table table({"op", "variants", ">goldens", "contract", "bound"});
  for (const Adapter* adapter : chosen) {
    const auto count = counts.find(adapter->op());
    table.add({std::string(adapter->op()), variant_list(*adapter, runner),
               std::to_string(count == counts.end() ? 0 : count->second), exactness_name(*adapter), adapter->contract().bound});
  }
  fmt::print("{}\nthis CPU runs {}; in brackets: skipped, since it lacks them\n", table.render(common.style()),
             supported_isa_names());
  if (runner == nullptr) return kPass;
  for (const RemotePlugin& one : runner->plugins()) fmt::print("plugin {} {} ({})\n", one.name, one.version, one.path);
  fmt::print("the runner is on {}, which runs {}\n", runner->machine(), runner->isas());
  return kPass;
}

int list_json(const std::vector<const Adapter*>& chosen, const RemoteRunner* runner) {
  const auto counts = golden_counts();
  nlohmann::ordered_json json = environment_json();
  for (const Adapter* adapter : chosen) {
    const auto count = counts.find(adapter->op());
    nlohmann::ordered_json op{{"op", adapter->op()},
                              {"goldens", count == counts.end() ? 0 : count->second},
                              {"exactness", exactness_name(*adapter)},
                              {"domain", adapter->contract().domain},
                              {"bound", adapter->contract().bound}};
    for (const Variant& variant : adapter->variants()) {
      op["variants"].push_back(
          {{"name", variant.name}, {"isa", isa_name(variant.isa)}, {"runs_here", isa_supported(variant.isa)}});
    }
    for (const RemoteKernel* kernel : foreign_kernels(*adapter, runner)) {
      op["variants"].push_back({{"name", kernel->variant},
                                {"isa", isa_name(kernel->isa)},
                                {"runs_here", kernel->runs},
                                {"claim", kernel->canonical ? "canonical" : "bounded"},
                                {"packed", kernel->packed_tensor},
                                {"plugin", kernel->plugin}});
    }
    json["ops"].push_back(op);
  }
  if (runner != nullptr) json["runner"] = {{"machine", runner->machine()}, {"isas", runner->isas()}};
  fmt::print("{}\n", json.dump(1));
  return kPass;
}

}  // namespace

Action add_list(CLI::App& app, const Common& common) {
  auto ops = std::make_shared<std::vector<std::string>>();
  auto where = std::make_shared<RunnerCliOptions>();
  CLI::App* command = app.add_subcommand("list", "Ops, variants, goldens and contracts, and what this CPU runs");
  command->add_option("op", *ops, "Ops to list; none: all");
  where->add_to(*command);
  command->footer("Example: assay list rms_norm --json");
  return [ops, where, &common] {
    std::vector<const Adapter*> chosen;
    for (const std::string& op : *ops) chosen.push_back(&require_adapter(op));
    if (chosen.empty()) chosen.assign(adapters().begin(), adapters().end());
    const auto options = where->options();
    std::unique_ptr<RemoteRunner> runner;
    if (options) runner = std::make_unique<RemoteRunner>(*options);
    return common.json ? list_json(chosen, runner.get()) : list_table(common, chosen, runner.get());
  };
}

}  // namespace assay::cli
