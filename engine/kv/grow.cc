// grow: one buffer a sequence, of 256 positions or the next power of two, copied into a new one when it is full.
#include <algorithm>
#include <bit>

#include "engine/kv/mapping.h"
#include "engine/kv/policies.h"

namespace assay {
namespace {

constexpr std::int64_t kSmallest = 256;

// Depends on `positions` alone, so that the plan does not depend on the steps in which they came.
std::int64_t grown_capacity(const KvConfig& config, std::int64_t positions) {
  const auto power = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(positions)));
  return std::min(std::max(power, kSmallest), config.context);
}

struct Buffer {
  Mapping memory;
  std::int64_t capacity = 0;
};

class GrowCache final : public KvCache {
 public:
  explicit GrowCache(const KvConfig& config) : KvCache("grow", config, 1), buffers_(static_cast<std::size_t>(config.sequences)) {}

  std::int64_t held_bytes() const override {
    std::int64_t bytes = 0;
    for (const Buffer& buffer : buffers_) bytes += kv_bytes(config().shape, buffer.capacity);
    return bytes;
  }

  // Each buffer as large as what is reserved in it.
  void trim() override {
    for (Sequence sequence = 0; sequence < config().sequences; ++sequence) {
      Buffer& buffer = at(sequence);
      if (buffer.capacity == 0) continue;
      const std::int64_t capacity = reserved(sequence);
      kernels().repack(buffer.memory.begin(), length(sequence), buffer.capacity, capacity);
      buffer.capacity = capacity;
      buffer.memory.shrink(kv_bytes(config().shape, capacity));
    }
  }

 private:
  Buffer& at(Sequence sequence) { return buffers_[static_cast<std::size_t>(sequence)]; }
  const Buffer& at(Sequence sequence) const { return buffers_[static_cast<std::size_t>(sequence)]; }

  std::int64_t piece_positions(Sequence sequence) const override { return at(sequence).capacity; }

  char* piece(Sequence sequence, std::int64_t, std::int64_t layer, KvSide side) const override {
    return place(at(sequence), layer, side);
  }

  char* place(const Buffer& buffer, std::int64_t layer, KvSide side) const {
    const std::int64_t lane = (layer * 2 + static_cast<std::int64_t>(side)) * config().shape.n_kv;
    return buffer.memory.begin() + lane * buffer.capacity * row_bytes();
  }

  bool grow(Sequence sequence, std::int64_t positions) override {
    Buffer& old = at(sequence);
    if (positions <= old.capacity) return false;
    const std::int64_t capacity = grown_capacity(config(), positions);
    Buffer larger{Mapping::memory(kv_bytes(config().shape, capacity)), capacity};
    for (std::int64_t layer = 0; length(sequence) > 0 && layer < config().shape.layers; ++layer) {
      for (const KvSide side : kKvSides) {
        kernels().copy({place(old, layer, side), old.capacity, 0}, {place(larger, layer, side), capacity, 0}, length(sequence));
      }
    }
    old = std::move(larger);
    return true;
  }

  void give_back(Sequence sequence) override { at(sequence) = Buffer(); }

  std::vector<MemoryRange> ranges() const override {
    std::vector<MemoryRange> result;
    for (const Buffer& buffer : buffers_) {
      if (buffer.memory) result.push_back({buffer.memory.begin(), buffer.memory.bytes()});
    }
    return result;
  }

  std::vector<Buffer> buffers_;
};

}  // namespace

// While it is copied, the old buffer is there too.
KvPlan plan_grow(const KvConfig& config, std::int64_t positions) {
  if (positions == 0) return {};
  const std::int64_t capacity = grown_capacity(config, positions);
  const std::int64_t bytes = kv_bytes(config.shape, capacity);
  const std::int64_t last_copy = capacity > kSmallest ? kv_bytes(config.shape, grown_capacity(config, ceil_div(capacity, 2))) : 0;
  return {bytes, round_up(bytes, page_bytes()), bytes + last_copy};
}

std::unique_ptr<KvCache> make_grow(const KvConfig& config) {
  return std::make_unique<GrowCache>(config);
}

}  // namespace assay
