#include "engine/tokenizer/bpe.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace assay {

MergeTable::MergeTable(std::size_t merges) {
  const int bits = std::max(4, static_cast<int>(std::bit_width(2 * merges)));
  shift_ = 64 - bits;
  slots_.assign(std::size_t{1} << bits, {0, 0, 0, -1});
}

// The pair's slot, or the empty one where it would go. Multiplicative hash by 2^64 over the golden ratio.
std::size_t MergeTable::slot_of(std::int32_t left, std::int32_t right) const {
  const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
  std::size_t slot = (key ^ key >> 29) * 0x9e3779b97f4a7c15U >> shift_;
  while (slots_[slot].rank >= 0 && (slots_[slot].left != left || slots_[slot].right != right)) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

std::int32_t MergeTable::insert(const Merge& merge) {
  Merge& slot = slots_[slot_of(merge.left, merge.right)];
  if (slot.rank >= 0) return slot.rank;
  slot = merge;
  return -1;
}

const MergeTable::Merge* MergeTable::find(std::int32_t left, std::int32_t right) const {
  const Merge& slot = slots_[slot_of(left, right)];
  return slot.rank >= 0 ? &slot : nullptr;
}

namespace {

// The heap's top is the candidate that no other comes before.
constexpr auto kComesLater = [](const auto& a, const auto& b) { return std::tie(a.rank, a.at) > std::tie(b.rank, b.at); };

}  // namespace

// Puts the pair of symbol `at` and the next one among the candidates, if it has a merge.
void Bpe::offer(std::int32_t at) {
  if (at < 0 || symbols_[at].next < 0) return;
  const std::int32_t left = symbols_[at].id;
  const std::int32_t right = symbols_[symbols_[at].next].id;
  const MergeTable::Merge* const merge = merges_.find(left, right);
  if (merge == nullptr) return;
  heap_.push_back({merge->rank, at, left, right, merge->result});
  std::push_heap(heap_.begin(), heap_.end(), kComesLater);
}

void Bpe::merge(const Candidate& candidate) {
  Symbol& left = symbols_[candidate.at];
  if (left.id != candidate.left || left.next < 0) return;
  Symbol& right = symbols_[left.next];
  if (right.id != candidate.right) return;
  left.id = candidate.result;
  left.next = right.next;
  right.id = -1;
  if (left.next >= 0) symbols_[left.next].previous = candidate.at;
  offer(left.previous);
  offer(candidate.at);
}

void Bpe::encode(std::string_view piece, std::vector<std::int32_t>& ids) {
  const auto size = static_cast<std::int32_t>(piece.size());
  symbols_.clear();
  for (std::int32_t i = 0; i < size; ++i) {
    symbols_.push_back({byte_tokens_[static_cast<unsigned char>(piece[i])], i - 1, i + 1 < size ? i + 1 : -1});
  }
  heap_.clear();
  for (std::int32_t i = 0; i < size; ++i) offer(i);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), kComesLater);
    const Candidate best = heap_.back();
    heap_.pop_back();
    merge(best);
  }
  for (const Symbol& symbol : symbols_) {
    if (symbol.id >= 0) ids.push_back(symbol.id);
  }
}

}  // namespace assay
