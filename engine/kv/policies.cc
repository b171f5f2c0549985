#include "engine/kv/policies.h"

#include <algorithm>
#include <string>

namespace assay {
namespace {

constexpr KvPolicy kPolicies[] = {
    {"contiguous", true, plan_contiguous, make_contiguous},
    {"grow", true, plan_grow, make_grow},
    {"chunks", true, plan_chunks, make_chunks},
    {"paged", true, plan_paged, make_paged},
    {"reserved", true, plan_reserved, make_reserved},
    {"ring", false, plan_ring, make_ring},
    {"none", false, plan_none, make_none},
};

}  // namespace

std::span<const KvPolicy> kv_policies() {
  return kPolicies;
}

const KvPolicy& kv_policy(std::string_view name) {
  const auto* const found = std::ranges::find(kPolicies, name, &KvPolicy::name);
  if (found != std::end(kPolicies)) return *found;
  std::string names;
  for (const KvPolicy& policy : kPolicies) names += (names.empty() ? "" : ", ") + std::string(policy.name);
  throw KvError("no KV policy is named '" + std::string(name) + "'; there are " + names);
}

KvPlan plan_kv_cache(std::string_view policy, const KvConfig& config, std::int64_t positions) {
  check_kv_config(config);
  if (positions < 0 || positions > config.context) {
    throw KvError("kv " + std::string(policy) + ": a plan for " + std::to_string(positions) + " positions; the context has " +
                  std::to_string(config.context));
  }
  return kv_policy(policy).plan(config, positions);
}

std::unique_ptr<KvCache> make_kv_cache(std::string_view policy, const KvConfig& config) {
  check_kv_config(config);
  return kv_policy(policy).make(config);
}

}  // namespace assay
