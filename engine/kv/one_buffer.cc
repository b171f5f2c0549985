#include "engine/kv/one_buffer.h"

namespace assay {
namespace {

KvShape with_layers(KvShape shape, std::int64_t layers) {
  shape.layers = layers;
  return shape;
}

}  // namespace

// A ring's view and append cross its end once.
OneBufferCache::OneBufferCache(const std::string& policy, const KvConfig& config, std::int64_t capacity, std::int64_t layers_kept)
    : KvCache(policy, config, 2),
      capacity_(capacity),
      layers_kept_(layers_kept),
      side_bytes_(kv_bytes(with_layers(config.shape, layers_kept), capacity) / (2 * layers_kept)),
      buffers_(static_cast<std::size_t>(config.sequences)) {}

KvPlan OneBufferCache::plan(const KvShape& shape, std::int64_t capacity, std::int64_t layers_kept, std::int64_t positions) {
  if (positions == 0) return {};
  const std::int64_t bytes = kv_bytes(with_layers(shape, layers_kept), capacity);
  return {bytes, round_up(bytes, page_bytes()), bytes};
}

std::int64_t OneBufferCache::held_bytes() const {
  std::int64_t bytes = 0;
  for (const Mapping& buffer : buffers_) bytes += buffer ? layers_kept_ * 2 * side_bytes_ : 0;
  return bytes;
}

char* OneBufferCache::piece(Sequence sequence, std::int64_t, std::int64_t layer, KvSide side) const {
  const std::int64_t lane = layer % layers_kept_ * 2 + static_cast<std::int64_t>(side);
  return buffers_[static_cast<std::size_t>(sequence)].begin() + lane * side_bytes_;
}

bool OneBufferCache::grow(Sequence sequence, std::int64_t) {
  Mapping& buffer = buffers_[static_cast<std::size_t>(sequence)];
  if (buffer) return false;
  buffer = Mapping::memory(layers_kept_ * 2 * side_bytes_);
  return true;
}

std::vector<MemoryRange> OneBufferCache::ranges() const {
  std::vector<MemoryRange> result;
  for (const Mapping& buffer : buffers_) {
    if (buffer) result.push_back({buffer.begin(), buffer.bytes()});
  }
  return result;
}

}  // namespace assay
