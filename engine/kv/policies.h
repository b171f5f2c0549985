// The storage policies of KV caches, by name.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "engine/kv/cache.h"

namespace assay {

// What a cache takes for one sequence of so many positions, known before anything is mapped.
struct KvPlan {
  std::int64_t bytes = 0;          // storage that the sequence holds: KvCache::held_bytes
  std::int64_t virtual_bytes = 0;  // address space mapped by then, in whole pages: KvUsage::virtual_bytes
  std::int64_t peak_bytes = 0;     // the most that was held on the way there, a token at a time
};

struct KvPolicy {
  const char* name;
  bool keeps_all;  // every position can be attended to, in a sequence that grows step by step
  KvPlan (*plan)(const KvConfig& config, std::int64_t positions);
  std::unique_ptr<KvCache> (*make)(const KvConfig& config);
};

std::span<const KvPolicy> kv_policies();

// Throws KvError that lists the policies if none has this name.
const KvPolicy& kv_policy(std::string_view name);

// Both throw KvError for a configuration that the policy cannot serve, the plan also for positions outside the context;
// making one throws KvExhausted where the kernel refuses a pool.
KvPlan plan_kv_cache(std::string_view policy, const KvConfig& config, std::int64_t positions);
std::unique_ptr<KvCache> make_kv_cache(std::string_view policy, const KvConfig& config);

// One file each.
KvPlan plan_contiguous(const KvConfig& config, std::int64_t positions);
KvPlan plan_grow(const KvConfig& config, std::int64_t positions);
KvPlan plan_chunks(const KvConfig& config, std::int64_t positions);
KvPlan plan_paged(const KvConfig& config, std::int64_t positions);
KvPlan plan_reserved(const KvConfig& config, std::int64_t positions);
KvPlan plan_ring(const KvConfig& config, std::int64_t positions);
KvPlan plan_none(const KvConfig& config, std::int64_t positions);
std::unique_ptr<KvCache> make_contiguous(const KvConfig& config);
std::unique_ptr<KvCache> make_grow(const KvConfig& config);
std::unique_ptr<KvCache> make_chunks(const KvConfig& config);
std::unique_ptr<KvCache> make_paged(const KvConfig& config);
std::unique_ptr<KvCache> make_reserved(const KvConfig& config);
std::unique_ptr<KvCache> make_ring(const KvConfig& config);
std::unique_ptr<KvCache> make_none(const KvConfig& config);

}  // namespace assay
