#include "harness/cli/chosen_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "engine/plan/fuse.h"
#include "harness/cli/runner_options.h"
#include "harness/cli/status_line.h"
#include "harness/forensics/sites/site_name.h"
#include "harness/verdict/nearest.h"
#include "reference/ops/find.h"

namespace assay::cli {
namespace {

// The projection's op with the quantisation before it in it; null where the step is none.
const Op* fused_op(const Plan& plan, const Step& step) {
  if (!is_product(*step.prefill)) return nullptr;
  const WeightLayout* const plain = find_plain_layout(plan.weights[static_cast<std::size_t>(step.weight)].stored->dtype);
  return plain == nullptr ? nullptr : plain->gemv;
}

std::string described(const Plan& plan, const Step& step) {
  if (step.weight < 0 || !is_product(*step.prefill)) return fmt::format("{} ({})", step.site, step.prefill->name);
  return fmt::format("{} ({} weights)", step.site, dtype_name(plan.weights[static_cast<std::size_t>(step.weight)].stored->dtype));
}

}  // namespace

struct ChosenEngine::Choice {
  std::string text;  // as the user gave it
  std::string glob;
  Backend backend = Backend::kernels;
  IsaLimit limit;
  const LoadedPlugin* plugin = nullptr;
  std::string kernel;  // of the plugin

  // The plugin's kernel of that op: by its name, or by its name and the weights' type.
  const AssayPluginKernel* find(const Plan& plan, const Step& step, const Op& op) const {
    std::string typed = kernel;
    if (step.weight >= 0)
      typed += "_" + std::string(dtype_name(plan.weights[static_cast<std::size_t>(step.weight)].stored->dtype));
    for (const AssayPluginKernel& one : plugin->kernels) {
      if (std::string_view(op.name) == one.op && (kernel == one.name || typed == one.name)) return &one;
    }
    return nullptr;
  }
  bool runs_fused(const Plan& plan, const Step& step) const {
    const Op* const op = fused_op(plan, step);
    return op != nullptr && find(plan, step, *op) != nullptr;
  }
  bool runs(const Plan& plan, const Step& step) const {
    return runs_fused(plan, step) || (find(plan, step, *step.decode) != nullptr && find(plan, step, *step.prefill) != nullptr);
  }
};

ChosenEngine::ChosenEngine(const ModelFile& model, const ModelOptions& options, const EngineOptions& settings) {
  load_plugins(options);
  Plan plan = make_plan(model.config(), model.weights(), settings.plan);
  std::vector<Choice> choices;
  std::vector<std::string> fused;
  for (const std::string& text : options.kernels) {
    choices.push_back(parse(text));
    const std::vector<std::string> sites = met_sites(choices.back(), plan);
    if (choices.back().plugin == nullptr) continue;
    check_all_fit(choices.back(), plan, sites);
    for (const std::string& site : sites) {
      if (choices.back().runs_fused(plan, plan.steps[*plan.find(site)]) && std::ranges::find(fused, site) == fused.end())
        fused.push_back(site);
    }
  }
  if (!fused.empty()) fuse_quantisation(plan, fused);
  StatusLine line;
  engine_ = std::make_unique<Engine>(model, std::move(plan), settings.threads, [&](std::int64_t done, std::int64_t total) {
    line.show(fmt::format("loading: {:.0f} of {:.0f} MB", static_cast<double>(done) / 1e6, static_cast<double>(total) / 1e6));
  });
  for (const Choice& choice : choices) apply(choice);
}

// Those of the environment only where a choice names a plugin.
void ChosenEngine::load_plugins(const ModelOptions& options) {
  const bool named =
      std::ranges::any_of(options.kernels, [](const std::string& one) { return one.find(':') != std::string::npos; });
  for (const std::string& given : named ? plugin_paths(options.plugins) : options.plugins) {
    const std::string path = std::filesystem::absolute(given).string();  // else dlopen looks in the system's folders
    plugins_.push_back(load_plugin(path));
    fmt::print(stderr, "runs in this process: plugin {} {} ({})\n", plugins_.back().name, plugins_.back().version, path);
  }
}

ChosenEngine::Choice ChosenEngine::parse(const std::string& text) const {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos)
    throw std::invalid_argument(fmt::format("--kernel: '{}'; expected SITE_GLOB=ISA or SITE_GLOB=PLUGIN:KERNEL", text));
  Choice choice{text, text.substr(0, equals), Backend::kernels, forced_isa(), nullptr, {}};
  const std::string name = text.substr(equals + 1);
  const std::size_t colon = name.find(':');
  if (colon != std::string::npos) {
    std::vector<std::string> known;
    for (const LoadedPlugin& plugin : plugins_) {
      known.push_back(plugin.name);
      if (plugin.name == name.substr(0, colon)) choice.plugin = &plugin;
    }
    if (choice.plugin == nullptr && known.empty())
      throw std::invalid_argument(
          fmt::format("--kernel: '{}' is of a plugin, and none is loaded; name its file with --plugin", name));
    if (choice.plugin == nullptr)
      throw std::invalid_argument("--kernel: " + unknown_name("plugin", name.substr(0, colon), known));
    choice.kernel = name.substr(colon + 1);
  } else if (name == "reference") {
    choice.backend = Backend::reference;
  } else {
    const auto isa = isa_from_name(name);
    if (!isa || !isa_selectable(*isa)) {
      throw std::invalid_argument(
          fmt::format("--kernel: no variant '{}' here; there are: reference, {}", name, supported_isa_names()));
    }
    choice.limit = *isa;
  }
  return choice;
}

std::vector<std::string> ChosenEngine::met_sites(const Choice& choice, const Plan& plan) const {
  std::vector<std::string> all;
  std::vector<std::string> met;
  for (const Step& step : plan.steps) {
    all.push_back(step.site);
    if (matches_glob(choice.glob, step.site)) met.push_back(step.site);
  }
  if (met.empty()) throw std::invalid_argument("--kernel: " + unknown_name("site", choice.glob, all));
  return met;
}

void ChosenEngine::check_all_fit(const Choice& choice, const Plan& plan, const std::vector<std::string>& sites) const {
  std::vector<std::string> unfit;
  for (const std::string& site : sites) {
    const Step& step = plan.steps[*plan.find(site)];
    if (!choice.runs(plan, step)) unfit.push_back(described(plan, step));
  }
  if (unfit.empty()) return;
  std::string ops;
  std::vector<std::string> known;
  for (const AssayPluginKernel& one : choice.plugin->kernels) {
    known.emplace_back(one.name);
    const std::string_view name = one.name;
    if (name == choice.kernel || name.starts_with(choice.kernel + "_")) ops += (ops.empty() ? "" : ", ") + std::string(one.op);
  }
  if (ops.empty())
    throw std::invalid_argument("--kernel: " + unknown_name("kernel of " + choice.plugin->name, choice.kernel, known));
  throw std::invalid_argument(fmt::format("--kernel: {}:{} is of {}; '{}' meets steps that it cannot run: {}",
                                          choice.plugin->name, choice.kernel, ops, choice.glob, fmt::join(unfit, ", ")));
}

void ChosenEngine::apply(const Choice& choice) {
  for (std::size_t step = 0; step < engine_->plan().steps.size(); ++step) {
    if (!matches_glob(choice.glob, engine_->plan().steps[step].site)) continue;
    if (choice.plugin == nullptr) {
      engine_->choose(step, choice.backend, choice.limit);
    } else {
      const Step& one = engine_->plan().steps[step];
      engine_->calls().replace(step, chosen(choice, step, *one.decode), chosen(choice, step, *one.prefill));
    }
  }
}

Chosen ChosenEngine::chosen(const Choice& choice, std::size_t step, const Op& op) {
  const Plan& plan = engine_->plan();
  const AssayPluginKernel* const kernel = choice.find(plan, plan.steps[step], op);
  if (kernel == nullptr)  // an earlier choice fused the step
    throw std::invalid_argument(fmt::format("--kernel: '{}': {} has no {} of {}, which {} is by an earlier --kernel", choice.text,
                                            choice.plugin->name, choice.kernel, op.name, plan.steps[step].site));
  if (!isa_supported(LoadedPlugin::isa_of(*kernel)))
    throw std::invalid_argument(
        fmt::format("--kernel: {}:{} needs {}, which this CPU lacks", choice.plugin->name, kernel->name, kernel->isa));
  names_.push_back(choice.plugin->name + ":" + kernel->name);
  return {&op, Backend::kernels, kernel->run, names_.back().c_str(), nullptr, packed_weight(*kernel, step)};
}

const void* ChosenEngine::packed_weight(const AssayPluginKernel& kernel, std::size_t index) {
  if (kernel.packed_tensor == nullptr) return nullptr;
  const Plan& plan = engine_->plan();
  const Step& step = plan.steps[index];
  if (!is_product(*step.prefill) || std::string_view(kernel.packed_tensor) != "w")
    throw std::invalid_argument(
        fmt::format("--kernel: {} has a layout of its own for '{}'; in a model only a projection's weight may have one",
                    kernel.name, kernel.packed_tensor));
  const Weight& stored = *plan.weights[static_cast<std::size_t>(step.weight)].stored;
  const ProductArgs args{engine_->calls().weight(step), nullptr, nullptr, 1, stored.rows, stored.cols, stored.cols, stored.rows};
  packed_.push_back(Mapping::memory(std::max<std::int64_t>(kernel.packed_bytes(&args), 1)));
  if (kernel.pack(&args, packed_.back().begin()) != ASSAY_OK)
    throw std::invalid_argument(fmt::format("--kernel: {} refuses to pack the weight of {}", kernel.name, step.site));
  return packed_.back().begin();
}

ChosenEngine load_engine(const ModelFile& model, const ModelOptions& options, const EngineOptions& settings) {
  return {model, options, settings};
}

ChosenEngine load_engine_for_logits(const ModelFile& model, const ModelOptions& options) {
  EngineOptions settings = engine_options(options);
  settings.plan.all_logits = true;
  return {model, options, settings};
}

}  // namespace assay::cli
