#include "engine/tokenizer/token_index.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace assay {

TokenIndex::TokenIndex(const std::vector<std::string>& tokens)
    : tokens_(tokens), slots_(std::bit_ceil(std::max<std::size_t>(16, 2 * tokens.size())), Slot{0, -1}) {}

// The spelling's slot, or the empty one where it would go.
std::size_t TokenIndex::slot_of(std::string_view spelling, std::size_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].id >= 0 && (slots_[at].hash != static_cast<std::uint32_t>(hash) || tokens_[slots_[at].id] != spelling)) {
    at = (at + 1) & mask;
  }
  return at;
}

std::int32_t TokenIndex::insert(std::int32_t id) {
  const std::size_t hash = std::hash<std::string_view>{}(tokens_[id]);
  Slot& slot = slots_[slot_of(tokens_[id], hash)];
  if (slot.id >= 0) return slot.id;
  slot = {static_cast<std::uint32_t>(hash), id};
  return -1;
}

std::int32_t TokenIndex::find(std::string_view spelling) const {
  return slots_[slot_of(spelling, std::hash<std::string_view>{}(spelling))].id;
}

}  // namespace assay
