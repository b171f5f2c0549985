// ring: the last positions alone, for attention in a sliding window. Position p lies in slot p mod capacity.
#include <algorithm>

#include "engine/kv/one_buffer.h"

namespace assay {
namespace {

// The first row of an append looks back window - 1 positions before it, the append itself lies behind it, and all must
// be there at once. A multiple of 16, so that no block of attention crosses the ring's end.
std::int64_t ring_capacity(const KvConfig& config) {
  if (config.window < 1) {
    throw KvError("kv ring: window is " + std::to_string(config.window) + "; at least 1 is expected");
  }
  return round_up(config.window - 1 + config.largest_append, ASSAY_KV_BLOCK);
}

class RingCache final : public OneBufferCache {
 public:
  explicit RingCache(const KvConfig& config) : OneBufferCache("ring", config, ring_capacity(config), config.shape.layers) {}

 private:
  std::int64_t first_kept(Sequence sequence) const override {
    return std::max<std::int64_t>(0, length(sequence) - piece_positions(sequence));
  }

  void check_append(Sequence sequence, std::int64_t tokens) const override {
    if (tokens <= config().largest_append) return;
    fail(sequence, "an append of " + std::to_string(tokens) + " tokens; at most largest_append, " +
                       std::to_string(config().largest_append) + ", leave the window whole");
  }
};

}  // namespace

KvPlan plan_ring(const KvConfig& config, std::int64_t positions) {
  return OneBufferCache::plan(config.shape, ring_capacity(config), config.shape.layers, positions);
}

std::unique_ptr<KvCache> make_ring(const KvConfig& config) {
  return std::make_unique<RingCache>(config);
}

}  // namespace assay
