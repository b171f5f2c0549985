// paged: blocks of 16 positions from one pool of all sequences, and a block table for each. A block has its number in
// every layer and side: the pool is [layer, side, block, n_kv, 16, head_dim_padded]. All blocks are of one size, so no
// free one is ever useless; a sequence wastes at most the rest of its last one.
#include <limits>

#include "engine/kv/block_pool.h"
#include "engine/kv/mapping.h"
#include "engine/kv/policies.h"

namespace assay {
namespace {

std::int64_t pool_blocks(const KvConfig& config) {
  const std::int64_t blocks = kv_pool_positions(config, ASSAY_KV_BLOCK) / ASSAY_KV_BLOCK;
  if (blocks > std::numeric_limits<std::int32_t>::max()) throw KvError("kv paged: a pool of more than 2^31 blocks");
  return blocks;
}

std::int64_t blocks_for(std::int64_t positions) {
  return ceil_div(positions, ASSAY_KV_BLOCK);
}

class PagedCache final : public KvCache {
 public:
  explicit PagedCache(const KvConfig& config)
      : KvCache("paged", config, blocks_for(config.context)),
        pool_(pool_blocks(config)),
        memory_(Mapping::memory(kv_bytes(config.shape, pool_.blocks() * ASSAY_KV_BLOCK))),
        block_bytes_(config.shape.n_kv * ASSAY_KV_BLOCK * row_bytes()),
        tables_(static_cast<std::size_t>(config.sequences)) {
    memory_.small_pages();
    for (auto& table : tables_) table.reserve(static_cast<std::size_t>(blocks_for(config.context)));
  }

  std::int64_t held_bytes() const override { return (pool_.blocks() - pool_.free()) * kv_bytes(config().shape, ASSAY_KV_BLOCK); }

  // The pages of free blocks; a run of them may reach from one layer and side into the next.
  void trim() override {
    const std::int64_t sides = config().shape.layers * 2;
    const std::int64_t all = sides * pool_.blocks();
    std::int64_t first = 0;
    for (std::int64_t i = 0; i <= all; ++i) {
      if (i < all && pool_.is_free(static_cast<int>(i % pool_.blocks()))) continue;
      const std::int64_t end = i == all ? memory_.bytes() : i * block_bytes_;
      if (i > first) memory_.discard(first * block_bytes_, end - first * block_bytes_);
      first = i + 1;
    }
  }

 private:
  std::vector<int>& table(Sequence sequence) { return tables_[static_cast<std::size_t>(sequence)]; }

  std::int64_t piece_positions(Sequence) const override { return ASSAY_KV_BLOCK; }

  char* piece(Sequence sequence, std::int64_t index, std::int64_t layer, KvSide side) const override {
    const std::int64_t block = tables_[static_cast<std::size_t>(sequence)][static_cast<std::size_t>(index)];
    const std::int64_t lane = layer * 2 + static_cast<std::int64_t>(side);
    return memory_.begin() + (lane * pool_.blocks() + block) * block_bytes_;
  }

  bool grow(Sequence sequence, std::int64_t positions) override {
    std::vector<int>& own = table(sequence);
    const std::int64_t missing = blocks_for(positions) - static_cast<std::int64_t>(own.size());
    if (missing > pool_.free()) {
      run_out(sequence, std::to_string(missing) + " more blocks of 16 positions are needed, " + std::to_string(pool_.free()) +
                            " of " + std::to_string(pool_.blocks()) + " are free");
    }
    for (std::int64_t i = 0; i < missing; ++i) own.push_back(pool_.take(own.empty() ? -1 : own.back()));
    return missing > 0;
  }

  void give_back(Sequence sequence) override {
    for (const int block : table(sequence)) pool_.give_back(block);
    table(sequence).clear();
  }

  std::vector<MemoryRange> ranges() const override { return {{memory_.begin(), memory_.bytes()}}; }

  BlockPool pool_;
  Mapping memory_;
  std::int64_t block_bytes_;  // of one layer and side
  std::vector<std::vector<int>> tables_;
};

}  // namespace

KvPlan plan_paged(const KvConfig& config, std::int64_t positions) {
  const std::int64_t bytes = kv_bytes(config.shape, round_up(positions, ASSAY_KV_BLOCK));
  const std::int64_t pool = kv_bytes(config.shape, pool_blocks(config) * ASSAY_KV_BLOCK);
  return {bytes, round_up(pool, page_bytes()), bytes};
}

std::unique_ptr<KvCache> make_paged(const KvConfig& config) {
  return std::make_unique<PagedCache>(config);
}

}  // namespace assay
