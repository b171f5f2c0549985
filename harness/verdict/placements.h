// Where the tensors of a call lie in their memory: the layouts that a case is tried in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "golden/hdf5.h"
#include "harness/verdict/discipline/poison.h"
#include "reference/ops/signature.h"

namespace assay {

// A tensor that lies where an input lies: an output on one of its aliases, or an input that holds the same.
struct Shared {
  std::size_t tensor;
  std::size_t on;
};

struct Placement {
  std::string name;                  // for messages
  bool at_end = true;                // each tensor's last byte against the rear guard page, as far as its alignment allows
  std::vector<std::size_t> offsets;  // else: of each tensor from the front guard page; none: 0
  Poison::Kind poison = Poison::Kind::nans;  // of what is no tensor's element
  std::vector<Shared> shared = {};
  bool after_other =
      false;  // a unit of its alignment before `at_end`, where no other placement lies: after a call with other data
};

inline constexpr std::size_t kOffsets = 64;  // offsets are tried over a cache line

// Both ends; outputs on each of their aliases; inputs that hold the same in one memory; the place of other data; and offsets that differ from tensor to tensor: of a call of little
// work (harness/verdict/draw.h) all of varied_offsets, else some, those of its seed.
std::vector<Placement> placements_of(const Signature& signature, const std::vector<Array>& inputs, double work,
                                     std::uint64_t seed);

// Whether the other may lie in the one's memory, where it holds the same: laid out alike, or both without gaps.
bool can_share(const TensorSpec& one, const TensorSpec& other);

// Rows of levels 0 .. counts[f] - 1, one a factor, in which every pair of levels of every two factors occurs. The first row is of zeros.
std::vector<std::vector<std::size_t>> pairwise(std::span<const std::size_t> counts);

// Rows of offsets below kOffsets, one a tensor, multiples of its alignment. What divides an address, 1, 2, 4 .. or 64, is its level: every
// two tensors have every pair of levels, and every tensor every offset. Which offset of a level comes when is the seed's.
std::vector<std::vector<std::size_t>> varied_offsets(std::span<const std::size_t> alignments, std::uint64_t seed);

}  // namespace assay
