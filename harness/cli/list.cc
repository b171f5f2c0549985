#include <fmt/format.h>

#include <map>
#include <memory>

#include "harness/cli/cli.h"
#include "harness/report.h"

namespace assay::cli {
namespace {

// How many cases the project's goldens hold, by op.
std::map<std::string, std::int64_t, std::less<>> golden_counts() {
  std::map<std::string, std::int64_t, std::less<>> counts;
  for (const auto& path : golden_files(own_golden())) {
    const GoldenFile file(path);
    counts[file.op()] += static_cast<std::int64_t>(file.case_names().size());
  }
  return counts;
}

const char* exactness_name(const Adapter& adapter) {
  return adapter.contract().exactness == reference::Exactness::exact ? "exact" : "bounded";
}

// "avx512 avx2 scalar", those that this CPU lacks in brackets.
std::string variant_list(const Adapter& adapter) {
  std::string out;
  for (const Variant& variant : adapter.variants()) {
    const std::string name(isa_name(variant.isa));
    out += (out.empty() ? "" : " ") + (isa_supported(variant.isa) ? name : "(" + name + ")");
  }
  return out;
}

int list_table(const Common& common, const std::vector<const Adapter*>& chosen) {
  const auto counts = golden_counts();
  Table table({"op", "variants", ">goldens", "contract", "bound"});
  for (const Adapter* adapter : chosen) {
    const auto count = counts.find(adapter->op());
    table.add({std::string(adapter->op()), variant_list(*adapter), std::to_string(count == counts.end() ? 0 : count->second),
               exactness_name(*adapter), adapter->contract().bound});
  }
  fmt::print("{}\nthis CPU runs {}; in brackets: skipped, since it lacks them\n", table.render(common.style()),
             supported_isa_names());
  return kPass;
}

int list_json(const std::vector<const Adapter*>& chosen) {
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
    json["ops"].push_back(op);
  }
  fmt::print("{}\n", json.dump(1));
  return kPass;
}

}  // namespace

Action add_list(CLI::App& app, const Common& common) {
  auto ops = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("list", "Ops, variants, goldens and contracts, and what this CPU runs");
  command->add_option("op", *ops, "Ops to list; none: all");
  command->footer("Example: assay list rms_norm --json");
  return [ops, &common] {
    std::vector<const Adapter*> chosen;
    for (const std::string& op : *ops) chosen.push_back(&require_adapter(op));
    if (chosen.empty()) chosen.assign(adapters().begin(), adapters().end());
    return common.json ? list_json(chosen) : list_table(common, chosen);
  };
}

}  // namespace assay::cli
