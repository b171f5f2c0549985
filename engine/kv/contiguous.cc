// contiguous: one buffer of the whole context a sequence.
#include "engine/kv/one_buffer.h"

namespace assay {

KvPlan plan_contiguous(const KvConfig& config, std::int64_t positions) {
  return OneBufferCache::plan(config.shape, config.context, config.shape.layers, positions);
}

std::unique_ptr<KvCache> make_contiguous(const KvConfig& config) {
  return std::make_unique<OneBufferCache>("contiguous", config, config.context, config.shape.layers);
}

}  // namespace assay
