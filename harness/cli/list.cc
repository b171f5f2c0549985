#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "golden/manifest.h"
#include "harness/cli/cli.h"
#include "harness/cli/runner_options.h"
#include "harness/reports/report.h"
#include "harness/verdict/coverage.h"

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

const char* exactness_name(const Op& op) {
  return op.contract->exactness == reference::Exactness::exact ? "exact" : "bounded";
}

// The plugins' kernels of an op.
std::vector<const RemoteKernel*> foreign_kernels(const Op& op, const RemoteRunner* runner) {
  std::vector<const RemoteKernel*> found;
  if (runner == nullptr) return found;
  for (const RemoteKernel& kernel : runner->kernels()) {
    if (!kernel.plugin.empty() && kernel.op == op.name) found.push_back(&kernel);
  }
  return found;
}

// "avx512 avx2 scalar mine:fast", those that this CPU lacks in brackets.
std::string variant_list(const Op& op, const RemoteRunner* runner) {
  std::string out;
  for (const RemoteKernel* kernel : foreign_kernels(op, runner)) {
    out += (out.empty() ? "" : " ") + (kernel->runs ? kernel->variant : "(" + kernel->variant + ")");
  }
  for (const AnyKernel& kernel : op.kernels()) {
    const std::string name(isa_name(kernel.isa));
    out += (out.empty() ? "" : " ") + (isa_supported(kernel.isa) ? name : "(" + name + ")");
  }
  return out;
}

bool any_has(const std::vector<const Op*>& chosen, Isa isa) {
  return std::ranges::any_of(chosen, [isa](const Op* op) { return std::ranges::count(op->kernels(), isa, &AnyKernel::isa) > 0; });
}

// Sizes that a case of the op is meant to have, and has not, for what it would cost.
struct TooDear {
  std::vector<std::string> of_default;
  std::vector<std::string> of_long;  // of these, what --long leaves out, too
  std::size_t all = 0;
};

TooDear too_dear(const Op& op) {
  TooDear found;
  const Coverage of_default(op);
  const Coverage of_long(op, true);
  for (const Requirement& one : of_default.too_dear) found.of_default.push_back(one.what);
  for (const Requirement& one : of_long.too_dear) found.of_long.push_back(one.what);
  found.all = of_default.requirements.size() + of_default.too_dear.size();
  return found;
}

void tell_too_dear(const std::vector<const Op*>& chosen) {
  std::size_t of_default = 0;
  std::size_t of_long = 0;
  std::size_t all = 0;
  for (const Op* op : chosen) {
    const TooDear found = too_dear(*op);
    of_default += found.of_default.size();
    of_long += found.of_long.size();
    all += found.all;
  }
  if (of_default > 0)
    fmt::print(
        "of {} sizes and pairs of sizes that cases are made for, {} are too dear for the default check, {} for --long; --json "
        "names them\n",
        all, of_default, of_long);
}

int list_table(const Common& common, const std::vector<const Op*>& chosen, const RemoteRunner* runner) {
  const auto counts = golden_counts();
  Table table({"op", "variants", ">goldens", "contract", "bound"});
  for (const Op* op : chosen) {
    const auto count = counts.find(op->name);
    table.add({op->name, variant_list(*op, runner), std::to_string(count == counts.end() ? 0 : count->second),
               exactness_name(*op), op->contract->bound});
  }
  fmt::print("{}\nthis CPU runs {}; in brackets: skipped, since it lacks them\n", table.render(common.style()),
             supported_isa_names());
  for (const IsaRow& row : kIsas) {
    if (row.source == row.isa || !any_has(chosen, row.isa)) continue;
    const std::string_view whose = isa_name(row.source);
    if (row.is_model()) {
      fmt::print(
          "{} is a model of {} in software: the same source, checked on CPUs that lack {}, never chosen, never timed;\n"
          "{} itself has never run on silicon here\n",
          row.name, whose, whose, whose);
    } else {
      fmt::print("{} stands in for {}: the same source, for CPUs that lack {}\n", row.name, whose, whose);
    }
  }
  tell_too_dear(chosen);
  if (runner == nullptr) return kPass;
  for (const RemotePlugin& one : runner->plugins()) fmt::print("plugin {} {} ({})\n", one.name, one.version, one.path);
  for (const Op* op : chosen) {
    for (const RemoteKernel* kernel : foreign_kernels(*op, runner)) {
      if (!kernel->traits.declared().empty())
        fmt::print("{} declares {}\n", variant_label(kernel->op, kernel->variant), kernel->traits.to_string());
    }
  }
  fmt::print("the runner is on {}, which runs {}\n", runner->machine(), runner->isas());
  return kPass;
}

int list_json(const std::vector<const Op*>& chosen, const RemoteRunner* runner) {
  const auto counts = golden_counts();
  nlohmann::ordered_json json = environment_json();
  for (const Op* one : chosen) {
    const auto count = counts.find(one->name);
    nlohmann::ordered_json op{{"op", one->name},
                              {"goldens", count == counts.end() ? 0 : count->second},
                              {"exactness", exactness_name(*one)},
                              {"domain", one->contract->domain},
                              {"bound", one->contract->bound}};
    for (const AnyKernel& kernel : one->kernels()) {
      op["variants"].push_back({{"name", kernel.name}, {"isa", isa_name(kernel.isa)}, {"runs_here", isa_supported(kernel.isa)}});
      const IsaRow& row = isa_row(kernel.isa);
      if (row.source != row.isa) op["variants"].back()[row.is_model() ? "model_of" : "stands_in_for"] = isa_name(row.source);
    }
    for (const RemoteKernel* kernel : foreign_kernels(*one, runner)) {
      op["variants"].push_back({{"name", kernel->variant},
                                {"isa", isa_name(kernel->isa)},
                                {"runs_here", kernel->runs},
                                {"claim", kernel->canonical ? "canonical" : "bounded"},
                                {"packed", kernel->packed_tensor},
                                {"traits", kernel->traits.declared()},
                                {"plugin", kernel->plugin}});
    }
    const TooDear dear = too_dear(*one);
    op["too_dear"] = {{"default", dear.of_default}, {"long", dear.of_long}};
    json["ops"].push_back(op);
  }
  if (runner != nullptr) json["runner"] = {{"machine", runner->machine()}, {"isas", runner->isas()}};
  fmt::print("{}", json_text(json));
  return kPass;
}

}  // namespace

Action add_list(CLI::App& app, const Common& common) {
  auto ops = std::make_shared<std::vector<std::string>>();
  auto where = std::make_shared<RunnerCliOptions>();
  CLI::App* command =
      app.add_subcommand("list", "List ops, their kernels (variants), golden files and contracts, and what this CPU runs");
  command->add_option("op", *ops, "Ops to list, or patterns such as 'gemm_*'; none: all");
  where->add_to(*command);
  command->footer("Example: assay list rms_norm --json");
  return [ops, where, &common] {
    std::vector<const Op*> chosen;
    for (const std::string& op : named_ops(*ops)) chosen.push_back(&require_op(op));
    if (chosen.empty()) chosen.assign(assay::ops().begin(), assay::ops().end());
    const auto options = where->options();
    std::unique_ptr<RemoteRunner> runner;
    if (options) runner = std::make_unique<RemoteRunner>(*options);
    return common.json ? list_json(chosen, runner.get()) : list_table(common, chosen, runner.get());
  };
}

}  // namespace assay::cli
