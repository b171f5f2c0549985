// The policies whose sequences have one buffer of fixed size each: contiguous, ring, none.
#pragma once

#include <string>
#include <vector>

#include "engine/kv/mapping.h"
#include "engine/kv/policies.h"

namespace assay {

// [layers_kept, side, n_kv, capacity, head_dim_padded], mapped at a sequence's first reserve, physical where touched.
// reset keeps it, close gives it back.
class OneBufferCache : public KvCache {
 public:
  OneBufferCache(const std::string& policy, const KvConfig& config, std::int64_t capacity, std::int64_t layers_kept);
  std::int64_t held_bytes() const override;

  static KvPlan plan(const KvShape& shape, std::int64_t capacity, std::int64_t layers_kept, std::int64_t positions);

 protected:
  std::int64_t piece_positions(Sequence) const override { return capacity_; }
  char* piece(Sequence sequence, std::int64_t index, std::int64_t layer, KvSide side) const override;
  bool grow(Sequence sequence, std::int64_t positions) override;
  void give_back(Sequence) override {}
  void give_all_back(Sequence sequence) override { buffers_[static_cast<std::size_t>(sequence)] = Mapping(); }
  std::vector<MemoryRange> ranges() const override;

 private:
  std::int64_t capacity_;
  std::int64_t layers_kept_;
  std::int64_t side_bytes_;  // of one layer
  std::vector<Mapping> buffers_;
};

}  // namespace assay
