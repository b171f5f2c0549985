#include "harness/cli/model_options.h"

#include <fmt/format.h>

#include "engine/kv/policies.h"
#include "harness/cli/converted.h"
#include "harness/cli/status_line.h"
#include "harness/data_dir.h"
#include "harness/nearest.h"
#include "harness/sites/site_name.h"

namespace assay::cli {
namespace {

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const KvPolicy& policy : kv_policies()) names.emplace_back(policy.name);
  return names;
}

AssayRopeRecipe rope_recipe(const std::string& name) {
  return name == "hf" ? ASSAY_ROPE_HF : name == "ggml" ? ASSAY_ROPE_GGML : ASSAY_ROPE_F64;
}

struct Choice {
  Backend backend;
  Isa limit;
};

Choice choice_of(const std::string& name) {
  if (name == "reference") return {Backend::reference, selected_isa()};
  const auto isa = isa_from_name(name);
  if (isa && isa_supported(*isa)) return {Backend::kernels, *isa};
  throw std::invalid_argument(
      fmt::format("--kernel: no variant '{}' here; there are: reference, {}", name, supported_isa_names()));
}

void choose_kernels(Engine& engine, const ModelOptions& options) {
  for (const std::string& one : options.kernels) {
    const std::size_t equals = one.rfind('=');
    if (equals == std::string::npos) throw std::invalid_argument(fmt::format("--kernel: '{}'; expected SITE_GLOB=ISA", one));
    const std::string glob = one.substr(0, equals);
    const Choice choice = choice_of(one.substr(equals + 1));
    bool met = false;
    std::vector<std::string> sites;
    for (std::size_t step = 0; step < engine.plan().steps.size(); ++step) {
      sites.push_back(engine.plan().steps[step].site);
      if (!matches_glob(glob, sites.back())) continue;
      engine.choose(step, choice.backend, choice.limit);
      met = true;
    }
    if (!met) throw std::invalid_argument("--kernel: " + unknown_name("site", glob, sites));
  }
}

}  // namespace

void add_plan_options(CLI::App& command, ModelOptions& options) {
  command.add_option("model", options.model, "A GGUF file or a Hugging Face folder; by default the embedded model");
  command.add_option("--context", options.context, "Positions to have room for; by default the model's, at most 4096")
      ->check(CLI::PositiveNumber);
  command.add_option("--chunk", options.chunk, "Most tokens of a prefill pass")->check(CLI::PositiveNumber);
  command.add_option("--window", options.window, "Attend to the last so many positions alone; by default to all")
      ->check(CLI::PositiveNumber);
  command.add_option("--kv", options.kv, "Storage policy of the KV cache")->check(CLI::IsMember(policy_names()));
  command.add_option("--kv-type", options.kv_type, "Type of the KV cache: f32 or f16")->check(CLI::IsMember({"f32", "f16"}));
  command.add_option("--rope", options.rope, "Recipe of the angles: f64, hf or ggml")
      ->check(CLI::IsMember({"f64", "hf", "ggml"}));
}

void add_model_options(CLI::App& command, ModelOptions& options) {
  add_plan_options(command, options);
  command.add_option("--threads", options.threads, "Threads; by default one a core")->check(CLI::PositiveNumber);
  command.add_option("--kernel", options.kernels, "SITE_GLOB=ISA, or =reference: what runs these steps (repeatable)");
}

std::filesystem::path model_path(const ModelOptions& options) {
  return options.model.empty() ? data_dir() / "golden" / "models" / "kjv" : std::filesystem::path(options.model);
}

PlanOptions plan_options(const ModelOptions& options) {
  PlanOptions plan;
  plan.context = options.context;
  plan.chunk = options.chunk;
  plan.window = options.window;
  plan.kv_policy = options.kv;
  plan.kv_type = options.kv_type == "f16" ? KvType::f16 : KvType::f32;
  plan.rope = rope_recipe(options.rope);
  return plan;
}

EngineOptions engine_options(const ModelOptions& options) {
  return {plan_options(options), thread_count(options.threads)};
}

std::unique_ptr<Engine> load_engine(const ModelFile& model, const ModelOptions& options, const EngineOptions& settings) {
  const StatusLine line;
  const auto show = [&](std::int64_t done, std::int64_t total) {
    line.show(fmt::format("loading: {:.0f} of {:.0f} MB", static_cast<double>(done) / 1e6, static_cast<double>(total) / 1e6));
  };
  auto engine = std::make_unique<Engine>(model, settings, show);
  choose_kernels(*engine, options);
  return engine;
}

std::unique_ptr<Engine> load_engine_for_logits(const ModelFile& model, const ModelOptions& options) {
  EngineOptions settings = engine_options(options);
  settings.plan.all_logits = true;
  return load_engine(model, options, settings);
}

}  // namespace assay::cli
