// Byte-pair merges within one piece of text.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace assay {

// The merges of a vocabulary, by pair of token ids. A hash table with open addressing, at most half full.
class MergeTable {
 public:
  struct Merge {
    std::int32_t left, right, result;
    std::int32_t rank;  // position in the list of merges; the lowest goes first
  };

  explicit MergeTable(std::size_t merges);
  // Returns the rank of the merge of that pair that is there already, or -1 if `merge` was put in.
  std::int32_t insert(const Merge& merge);
  const Merge* find(std::int32_t left, std::int32_t right) const;

 private:
  std::size_t slot_of(std::int32_t left, std::int32_t right) const;

  int shift_;                 // 64 minus the table's number of index bits
  std::vector<Merge> slots_;  // rank -1: empty
};

// Byte-pair encoding: the piece's bytes as tokens; then, over and over, the pair of neighbours whose merge ranks lowest (the
// leftmost of equals) becomes one token, until no pair has a merge. O(n log n) for n bytes. One object serves piece after
// piece and keeps its memory; not for two threads at once.
class Bpe {
 public:
  // Both must outlive the object. `byte_tokens[b]` is the token of byte b.
  Bpe(const MergeTable& merges, const std::array<std::int32_t, 256>& byte_tokens) : merges_(merges), byte_tokens_(byte_tokens) {}

  // Appends the tokens of `piece` to `ids`. At most 2^31 - 1 bytes.
  void encode(std::string_view piece, std::vector<std::int32_t>& ids);

 private:
  // A token among its neighbours. One that was merged into its left neighbour has id -1.
  struct Symbol {
    std::int32_t id, previous, next;  // neighbours by index, -1: none
  };
  // A merge seen at a symbol; void if either of the two has changed since.
  struct Candidate {
    std::int32_t rank, at, left, right, result;
  };

  void offer(std::int32_t at);
  void merge(const Candidate& candidate);

  const MergeTable& merges_;
  const std::array<std::int32_t, 256>& byte_tokens_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
};

}  // namespace assay
