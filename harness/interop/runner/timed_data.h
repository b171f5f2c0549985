// What timed calls work on: where their tensors lie, and data of which no two calls have the same. The runner fills its memory with it, the
// host computes it again to judge what came out.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "harness/verdict/discipline/poison.h"

namespace assay {

// Where a tensor of timed calls lies.
enum class Keep : std::uint32_t {
  own = 0,     // in the runner's memory
  shared = 1,  // in the memory that the host shares: what the kernel writes
};
inline constexpr std::uint32_t kKeeps = 2;

// How the data of a tensor is made from a seed.
struct TimedTensor {
  std::uint64_t bytes = 0;  // from its first element to its last, gaps included
  Keep keep = Keep::own;
  std::uint32_t element = 1;           // bytes: data begins with a whole one
  std::uint32_t unit = 0;              // bytes within which two pieces change places; 0: none do
  std::span<const std::byte> pattern;  // whole elements, again and again from one that the seed chooses; empty: an output
};

// At the start of the shared memory: whose turn it is.
struct TimedControl {
  enum Turn : std::uint32_t { nobody = 0, ready = 1, go = 2, done = 3 };
  std::atomic<std::uint32_t> turn;
};
inline constexpr std::uint64_t kControlBytes = 4096;
inline constexpr int kSharedDescriptor = 3;  // of the runner: the shared memory, where it was given one

// A number that nobody tells from chance, of another.
inline std::uint64_t mixed(std::uint64_t x) {
  return split_mix(x);
}

// Where the tensors of one keep begin in a slot, and at the end the slot's size. On lines, not on pages: tensors that all began on pages
// would compete for the same lines of the first-level cache.
inline std::vector<std::uint64_t> timed_offsets(std::span<const TimedTensor> tensors, Keep keep) {
  constexpr std::uint64_t kLine = 64;
  std::vector<std::uint64_t> offsets;
  std::uint64_t at = 0;
  for (const TimedTensor& one : tensors) {
    offsets.push_back(at);
    if (one.keep == keep) at += (one.bytes + kLine - 1) / kLine * kLine + kLine;
  }
  offsets.push_back(at);
  return offsets;
}

inline void fill_poison(std::span<std::byte> to, std::uint64_t seed) {
  for (std::size_t at = 0; at < to.size(); at += sizeof seed) {
    const std::uint64_t word = mixed(seed + at);
    std::memcpy(&to[at], &word, std::min(sizeof word, to.size() - at));
  }
}

// Two words of a line of numbers change places; of a block the bytes 4 to 11 turn: numbers and blocks stay what they may be, sums over
// sixteen codes too.
inline void stir(std::byte* unit, std::uint32_t bytes, std::uint64_t how) {
  constexpr std::uint32_t kLine = 64;
  std::uint64_t word = 0;
  std::uint64_t other = 0;
  if (bytes == kLine) {
    std::byte* a = unit + how % 8 * 8;
    std::byte* b = unit + how / 8 % 8 * 8;
    std::memcpy(&word, a, 8);
    std::memcpy(&other, b, 8);
    std::memcpy(a, &other, 8);
    std::memcpy(b, &word, 8);
  } else {
    std::memcpy(&word, unit + 4, 8);
    word = std::rotl(word, static_cast<int>(how % 8 * 8));
    std::memcpy(unit + 4, &word, 8);
  }
}

inline void fill_timed(const TimedTensor& tensor, std::uint64_t seed, std::byte* to) {
  if (tensor.pattern.empty()) return fill_poison({to, static_cast<std::size_t>(tensor.bytes)}, seed);
  const std::span<const std::byte> pattern = tensor.pattern;
  std::size_t from = mixed(seed) % (pattern.size() / tensor.element) * tensor.element;
  for (std::size_t at = 0; at < tensor.bytes;) {
    const std::size_t now = std::min<std::size_t>(tensor.bytes - at, pattern.size() - from);
    std::memcpy(to + at, pattern.data() + from, now);
    at += now;
    from = 0;
  }
  if (tensor.unit == 0) return;
  for (std::uint64_t at = 0; at + tensor.unit <= tensor.bytes; at += tensor.unit)
    stir(to + at, tensor.unit, mixed(seed ^ (at + 1)));
}

// Between two calls of the same slot one unit of each input is stirred, at a place that nobody can tell without reading all of it.
inline void change_timed(const TimedTensor& tensor, std::uint64_t seed, std::uint64_t lap, std::byte* at) {
  const std::uint64_t units = tensor.unit == 0 ? 0 : tensor.bytes / tensor.unit;
  if (tensor.pattern.empty() || units == 0) return;
  const std::uint64_t how = mixed(seed + mixed(lap));
  stir(at + how % units * tensor.unit, tensor.unit, mixed(how));
}

// Of a slot's tensor: each its own.
inline std::uint64_t tensor_seed(std::uint64_t slot_seed, std::size_t tensor) {
  return mixed(slot_seed) + tensor;
}

}  // namespace assay
