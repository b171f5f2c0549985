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

// A tensor that lies in another's memory: in its place, as an output on one of its aliases and an input that holds the same, or behind it.
struct Shared {
  std::size_t tensor;
  std::size_t on;
  std::size_t behind = 0;  // bytes from the other's first element
};

// What lay there before, and was computed with: what a kernel remembers of it shows.
enum class Before : std::uint8_t {
  nothing,
  moved,        // all but sixteen elements at each end, or a third, have moved one on
  one_changed,  // one element of each input is another of the same input
  neutral,      // inputs but the first change nothing, as weights of 1
};

struct Placement {
  std::string name;                  // for messages
  bool at_end = true;                // each tensor's last byte against the rear guard page, as far as its alignment allows
  std::vector<std::size_t> offsets;  // else: of each tensor from the front guard page; none: 0
  Poison::Kind poison = Poison::Kind::nans;  // of what is no tensor's element
  std::vector<Shared> shared = {};
  // A unit of its alignment before `at_end`, or two, where no other placement lies; outputs hold what they got then.
  Before before = Before::nothing;
  bool in_place = false;  // an output lies on an input that it may be
  bool alike = false;     // inputs lie on one another, since they hold the same
  bool meant = false;  // inputs that are the same, or rows that can take turns: few calls have them, and are there for their sake
};

inline constexpr std::size_t kOffsets = 64;  // offsets are tried over a cache line

// Both ends; outputs on each of their aliases; inputs that hold the same in one memory; tensors whose rows take turns; the place of other data;
// and offsets that differ from tensor to tensor, and tensors that touch: of a call of little work (harness/verdict/draw.h) all of
// varied_offsets and of neighbours, else some, those of its seed.
std::vector<Placement> placements_of(const Signature& signature, const std::vector<Array>& inputs, double work,
                                     std::uint64_t seed);

// Whether the other may lie in the one's memory, where it holds the same: laid out alike, or both without gaps.
bool can_share(const TensorSpec& one, const TensorSpec& other);

// Rows of levels 0 .. counts[f] - 1, one a factor, in which every pair of levels of every two factors occurs. The first row is of zeros.
std::vector<std::vector<std::size_t>> pairwise(std::span<const std::size_t> counts);

// Rows of offsets below kOffsets, one a tensor, multiples of its alignment. What divides an address, 1, 2, 4 .. or 64, is its level: every
// two tensors have every pair of levels, and every tensor every offset. Which offset of a level comes when is the seed's.
std::vector<std::vector<std::size_t>> varied_offsets(std::span<const std::size_t> alignments, std::uint64_t seed);

// Orders of 0 .. count - 1, two at least, in which each comes right behind each other: rows of a square of Williams ("Experimental designs
// balanced for the estimation of residual effects of treatments", 1949). Of three all.
std::vector<std::vector<std::size_t>> neighbours(std::size_t count);

}  // namespace assay
