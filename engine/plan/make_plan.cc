#include <algorithm>
#include <stdexcept>

#include "engine/architecture/architecture.h"
#include "engine/plan/placement.h"

namespace assay {
namespace {

constexpr std::int64_t kMostRopePositions = std::int64_t{1} << 24;
constexpr std::int64_t kMostAttentionHeadDim = 512;

void check_options(const PlanOptions& options, const ModelConfig& config) {
  if (options.context < 1 || options.context > config.max_positions) {
    throw std::invalid_argument("a context of " + std::to_string(options.context) + " positions; the model allows 1 .. " +
                                std::to_string(config.max_positions));
  }
  if (options.context > kMostRopePositions) {
    throw std::invalid_argument("a context of " + std::to_string(options.context) + " positions; rope counts them below 2^24");
  }
  if (config.head_dim > kMostAttentionHeadDim) {
    throw std::invalid_argument("a head_dim of " + std::to_string(config.head_dim) + "; attention's kernels take at most 512");
  }
  if (options.chunk < 1)
    throw std::invalid_argument("a prefill chunk of " + std::to_string(options.chunk) + " tokens; at least 1");
}

KvConfig kv_config(const ModelConfig& config, const PlanOptions& options) {
  KvConfig kv;
  kv.shape = {config.layers, config.kv_heads, config.head_dim, round_up(config.head_dim, 16), options.kv_type};
  kv.context = options.context;
  kv.window = options.window > 0 ? options.window : options.context;
  kv.largest_append = std::min(options.chunk, options.context);
  return kv;
}

}  // namespace

Plan make_plan(const ModelConfig& config, const WeightMap& weights, const PlanOptions& options) {
  Plan plan;
  plan.config = config;
  plan.options = options;
  if (options.context == 0) plan.options.context = std::min(kDefaultContext, config.max_positions);
  check_options(plan.options, config);
  plan.options.chunk = std::min(options.chunk, plan.options.context);
  plan.options.whole_last_layer = options.whole_last_layer || options.all_logits;
  plan.kv = kv_config(config, plan.options);
  (void)plan_kv_cache(plan.options.kv_policy, plan.kv, plan.options.context);  // refuses what the policy cannot serve
  const PlannedArchitecture* const architecture = find_architecture(config.architecture);
  if (architecture == nullptr) throw std::invalid_argument("no plan for models of architecture " + config.architecture);
  PlanBuilder builder(plan, weights);
  architecture->build(builder);
  place_weights(plan);
  plan.decode = place_slots(plan, 1, 1);
  plan.prefill = place_slots(plan, plan.options.chunk, plan.options.all_logits ? plan.options.chunk : 1);
  return plan;
}

}  // namespace assay
