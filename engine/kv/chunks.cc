// chunks: a mapping [layer, side, n_kv, 256, head_dim_padded] for every 256 positions begun.
#include "engine/kv/mapping.h"
#include "engine/kv/policies.h"

namespace assay {
namespace {

constexpr std::int64_t kChunk = 256;

class ChunksCache final : public KvCache {
 public:
  explicit ChunksCache(const KvConfig& config)
      : KvCache("chunks", config, ceil_div(config.context, kChunk)),
        side_bytes_(config.shape.n_kv * kChunk * kv_row_bytes(config.shape)),
        chunk_bytes_(kv_bytes(config.shape, kChunk)),
        chunks_(static_cast<std::size_t>(config.sequences)) {
    for (auto& list : chunks_) list.reserve(static_cast<std::size_t>(ceil_div(config.context, kChunk)));
  }

  std::int64_t held_bytes() const override {
    std::int64_t bytes = 0;
    for (const auto& list : chunks_) bytes += static_cast<std::int64_t>(list.size()) * chunk_bytes_;
    return bytes;
  }

 private:
  std::vector<Mapping>& list_of(Sequence sequence) { return chunks_[static_cast<std::size_t>(sequence)]; }

  std::int64_t piece_positions(Sequence) const override { return kChunk; }

  char* piece(Sequence sequence, std::int64_t index, std::int64_t layer, KvSide side) const override {
    const Mapping& chunk = chunks_[static_cast<std::size_t>(sequence)][static_cast<std::size_t>(index)];
    return chunk.begin() + (layer * 2 + static_cast<std::int64_t>(side)) * side_bytes_;
  }

  bool grow(Sequence sequence, std::int64_t positions) override {
    std::vector<Mapping>& list = list_of(sequence);
    const std::size_t before = list.size();
    try {
      while (static_cast<std::int64_t>(list.size()) * kChunk < positions) list.push_back(Mapping::memory(chunk_bytes_));
    } catch (...) {
      list.resize(before);
      throw;
    }
    return list.size() > before;
  }

  void give_back(Sequence sequence) override { list_of(sequence).clear(); }

  std::vector<MemoryRange> ranges() const override {
    std::vector<MemoryRange> result;
    for (const auto& list : chunks_) {
      for (const Mapping& chunk : list) result.push_back({chunk.begin(), chunk.bytes()});
    }
    return result;
  }

  std::int64_t side_bytes_;
  std::int64_t chunk_bytes_;
  std::vector<std::vector<Mapping>> chunks_;
};

}  // namespace

KvPlan plan_chunks(const KvConfig& config, std::int64_t positions) {
  const std::int64_t bytes = ceil_div(positions, kChunk) * kv_bytes(config.shape, kChunk);
  return {bytes, bytes, bytes};
}

std::unique_ptr<KvCache> make_chunks(const KvConfig& config) {
  return std::make_unique<ChunksCache>(config);
}

}  // namespace assay
