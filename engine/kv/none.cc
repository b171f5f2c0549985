// none: nothing is kept. An encoder reads a layer's keys and values once, right after they were stored, so all layers
// use one layer's buffer in turn, and the sequence has one append until it is reset.
#include "engine/kv/one_buffer.h"

namespace assay {
namespace {

class NoneCache final : public OneBufferCache {
 public:
  explicit NoneCache(const KvConfig& config) : OneBufferCache("none", config, config.context, 1) {}

 private:
  void check_append(Sequence sequence, std::int64_t) const override {
    if (length(sequence) > 0) fail(sequence, "a second append, but the first one's rows are not kept; reset it before");
  }
};

}  // namespace

KvPlan plan_none(const KvConfig& config, std::int64_t positions) {
  return OneBufferCache::plan(config.shape, config.context, 1, positions);
}

std::unique_ptr<KvCache> make_none(const KvConfig& config) {
  return std::make_unique<NoneCache>(config);
}

}  // namespace assay
