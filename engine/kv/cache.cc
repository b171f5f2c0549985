#include "engine/kv/cache.h"

#include <algorithm>
#include <utility>

namespace assay {
namespace {

std::string range_text(std::int64_t first, std::int64_t count) {
  if (count <= 0) return "none";
  return std::to_string(first) + " .. " + std::to_string(first + count - 1);
}

const KvConfig& checked(const KvConfig& config) {
  check_kv_config(config);
  return config;
}

}  // namespace

KvCache::KvCache(std::string policy, const KvConfig& config, std::int64_t most_pieces)
    : policy_(std::move(policy)),
      config_(checked(config)),
      row_bytes_(kv_row_bytes(config.shape)),
      kernels_(config.shape),
      states_(static_cast<std::size_t>(config.sequences)) {
  for (State& state : states_) state.spans.reserve(static_cast<std::size_t>(most_pieces));
}

KvCache::Sequence KvCache::open() {
  const auto free = std::ranges::find(states_, false, &State::open);
  if (free == states_.end()) {
    throw KvExhausted("kv " + policy_ + ": all " + std::to_string(states_.size()) + " sequences are open");
  }
  free->open = true;
  return static_cast<Sequence>(free - states_.begin());
}

void KvCache::reserve(Sequence sequence, std::int64_t positions) {
  State& state = opened(sequence);
  if (positions > config_.context) {
    run_out(sequence, std::to_string(positions) + " positions are wanted, the context has " + std::to_string(config_.context));
  }
  if (positions <= state.reserved) return;
  if (grow(sequence, positions)) ++growths_;
  state.reserved = positions;
}

void KvCache::append(Sequence sequence, std::int64_t tokens) {
  State& state = opened(sequence);
  if (tokens < 0) fail(sequence, "an append of " + std::to_string(tokens) + " tokens");
  if (tokens > state.reserved - state.length) {
    run_out(sequence, std::to_string(tokens) + " tokens after " + std::to_string(state.length) + " are appended, " +
                          std::to_string(state.reserved) + " positions are reserved");
  }
  check_append(sequence, tokens);
  state.length += tokens;
  state.appended = tokens;
}

void KvCache::check_targets(Sequence sequence, std::int64_t layer, std::int64_t position, std::int64_t tokens) const {
  const State& state = opened(sequence);
  check_layer(sequence, layer);
  const std::int64_t first = state.length - state.appended;
  if (position < first || position > state.length || tokens < 0 || tokens > state.length - position) {
    fail(sequence, std::to_string(tokens) + " rows from position " + std::to_string(position) +
                       " are outside those of the last append, " + range_text(first, state.appended));
  }
}

void KvCache::store(Sequence sequence, std::int64_t layer, KvSide side, const KvRows& rows, std::int64_t position,
                    std::int64_t tokens) {
  for_targets(sequence, layer, side, position, tokens, [&](const KvTarget& target) { kernels_.store(target, rows); });
}

std::span<const AssayKvSpan> KvCache::view(Sequence sequence, std::int64_t layer) {
  State& state = opened(sequence);
  check_layer(sequence, layer);
  state.spans.clear();
  const std::int64_t size = piece_positions(sequence);
  const std::int64_t row = config_.shape.head_dim_padded;
  for (std::int64_t first = first_kept(sequence) / ASSAY_KV_BLOCK * ASSAY_KV_BLOCK; first < state.length;) {
    const std::int64_t slot = first % size;
    const std::int64_t count = std::min(state.length - first, size - slot);
    const char* const k = piece(sequence, first / size, layer, KvSide::k) + slot * row_bytes_;
    const char* const v = piece(sequence, first / size, layer, KvSide::v) + slot * row_bytes_;
    state.spans.push_back({k, v, first, count, size * row, row, size * row, row});
    first += count;
  }
  return state.spans;
}

void KvCache::reset(Sequence sequence) {
  State& state = opened(sequence);
  give_back(sequence);
  state.reserved = state.length = state.appended = 0;
}

void KvCache::close(Sequence sequence) {
  State& state = opened(sequence);
  give_all_back(sequence);
  state.reserved = state.length = state.appended = 0;
  state.open = false;
}

void KvCache::fail(Sequence sequence, const std::string& why) const {
  throw KvError("kv " + policy_ + ": sequence " + std::to_string(sequence) + ": " + why);
}

void KvCache::run_out(Sequence sequence, const std::string& why) const {
  throw KvExhausted("kv " + policy_ + ": sequence " + std::to_string(sequence) + ": " + why);
}

const KvCache::State& KvCache::opened(Sequence sequence) const {
  const auto index = static_cast<std::size_t>(sequence);
  if (sequence < 0 || index >= states_.size()) fail(sequence, "there are " + std::to_string(states_.size()) + " of them");
  if (!states_[index].open) fail(sequence, "it is not open");
  return states_[index];
}

KvCache::State& KvCache::opened(Sequence sequence) {
  return const_cast<State&>(std::as_const(*this).opened(sequence));
}

void KvCache::check_layer(Sequence sequence, std::int64_t layer) const {
  if (layer >= 0 && layer < config_.shape.layers) return;
  fail(sequence, "layer " + std::to_string(layer) + " of " + std::to_string(config_.shape.layers));
}

}  // namespace assay
