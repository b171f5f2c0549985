#include "harness/cli/model_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "engine/kv/policies.h"
#include "harness/cli/converted.h"
#include "harness/cli/status_line.h"
#include "harness/cli/values.h"
#include "harness/forensics/sites/site_name.h"
#include "harness/verdict/data_dir.h"
#include "harness/verdict/nearest.h"

namespace assay::cli {
namespace {

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const KvPolicy& policy : kv_policies()) names.emplace_back(policy.name);
  return names;
}

// What --rope takes: not freqs, whose frequencies a plan does not have.
constexpr std::span kRopes = std::span(kRopeRecipes).first<ASSAY_ROPE_FREQS>();

}  // namespace

void add_plan_options(CLI::App& command, ModelOptions& options) {
  command.add_option("model", options.model, "A GGUF file or a Hugging Face folder; by default the embedded model");
  command.add_option("--context", options.context, "Positions to make room for; by default the model's, at most 4096")
      ->check(whole(1));
  command.add_option("--chunk", options.chunk, "The most tokens of a prefill pass")->check(whole(1));
  command.add_option("--window", options.window, "Attend only to this many of the last positions; by default to all")
      ->check(whole(1));
  command.add_option("--kv", options.kv, "Storage policy of the KV cache")->check(one_of(policy_names()));
  command.add_option("--kv-type", options.kv_type, "Type of the KV cache: f32 or f16")->check(one_of({"f32", "f16"}));
  command.add_option("--rope", options.rope, "Whose rounding of the rope angles: f64, hf or ggml")
      ->check(one_of(std::vector<std::string>(kRopes.begin(), kRopes.end())));
}

void add_model_options(CLI::App& command, ModelOptions& options) {
  add_plan_options(command, options);
  add_threads_option(command, options.threads);
  command.add_option("--kernel", options.kernels,
                     "SITE_GLOB=ISA, =reference or =PLUGIN:KERNEL: what runs these steps; repeatable");
  command.add_option("--plugin", options.plugins, "A shared library with kernels, which runs in this process; repeatable");
}

void add_threads_option(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, fmt::format("Threads, at most {}; by default one per core", kMostThreads))
      ->check(whole(1, kMostThreads));
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
  plan.rope = static_cast<AssayRopeRecipe>(std::ranges::find(kRopes, options.rope) - kRopes.begin());
  return plan;
}

EngineOptions engine_options(const ModelOptions& options) {
  return {plan_options(options), thread_count(options.threads)};
}

}  // namespace assay::cli
