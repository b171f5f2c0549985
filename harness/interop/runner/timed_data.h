// What timed calls work on: where their tensors lie, and data of which no two calls have the same. The runner fills its memory with it, the
// host computes it again to judge what came out.
#pragma once

#include <algorithm>
#include <array>
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
  std::uint32_t element = 1;    // bytes: data begins with a whole one
  std::uint32_t unit = 0;       // bytes within which two pieces change places; 0: none do
  std::uint64_t free_bits = 0;  // of each 8 bytes of a line: those that may be anything, as low bits of mantissas
  std::uint32_t changing = 0;   // of a line's 8 words with free bits: how many change between calls of the same memory, 1 or 8
  std::span<const std::byte> pattern;  // whole elements, again and again from one that the seed chooses; empty: an output
};

inline constexpr std::uint64_t kMostLaps = 256;

// At the start of the shared memory: whose turn it is, and where there are laps of each a digest of all that was written in it.
struct TimedControl {
  enum Turn : std::uint32_t { nobody = 0, done = 1 };
  std::atomic<std::uint32_t> turn;
  std::uint64_t laps[kMostLaps];
};
inline constexpr std::uint64_t kControlBytes = 4096;
static_assert(sizeof(TimedControl) <= kControlBytes);
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

// Milliseconds that so many slots may take to be filled, beside the limit of a call: they may be four times a large cache.
inline std::uint64_t filling_ms(std::span<const TimedTensor> tensors, std::uint64_t slots) {
  constexpr std::uint64_t kLeast = 1 << 18;  // bytes a millisecond
  return slots * (timed_offsets(tensors, Keep::own).back() + timed_offsets(tensors, Keep::shared).back()) / kLeast;
}

constexpr std::size_t kLineWords = 8;
using LineWords = std::array<std::uint64_t, kLineWords>;

// Of one number as many as a line has words, each turned by 7 bits more than the one before: two at a time.
inline LineWords spread(std::uint64_t number) {
  using Two = std::uint64_t __attribute__((vector_size(16)));
  Two two = {number, std::rotl(number, 7)};
  LineWords words;
  for (std::size_t w = 0; w < kLineWords; w += 2, two = two << 14 | two >> 50) std::memcpy(&words[w], &two, sizeof two);
  return words;
}

inline void fill_poison(std::span<std::byte> to, std::uint64_t seed) {
  for (std::size_t at = 0; at < to.size(); at += sizeof(LineWords)) {
    const LineWords words = spread(mixed(seed + at));
    std::memcpy(&to[at], words.data(), std::min(sizeof words, to.size() - at));
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

// The free bits of a line as chance has them.
inline LineWords free_words(const TimedTensor& tensor, std::uint64_t how) {
  LineWords words = spread(how);
  for (std::uint64_t& word : words) word &= tensor.free_bits;
  return words;
}
inline void change_free(std::byte* line, const LineWords& by) {
  LineWords words;
  std::memcpy(words.data(), line, sizeof words);
  for (std::size_t w = 0; w < kLineWords; ++w) words[w] ^= by[w];
  std::memcpy(line, words.data(), sizeof words);
}

// Of each line the word that begins at `at` in the first.
inline void change_word(std::byte* at, std::uint64_t lines, std::uint64_t by) {
  for (std::uint64_t line = 0; line < lines; ++line, at += sizeof(LineWords)) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    word ^= by;
    std::memcpy(at, &word, sizeof word);
  }
}

// The pattern from `from` on, again and again.
inline void repeat_pattern(std::span<const std::byte> pattern, std::size_t from, std::span<std::byte> to) {
  for (std::size_t at = 0; at < to.size();) {
    const std::size_t now = std::min(to.size() - at, pattern.size() - from);
    std::memcpy(&to[at], &pattern[from], now);
    at += now;
    from = 0;
  }
}

// A line of the pattern: two words change places as in `stir`, and its free bits are changed. All is read before it is written: to load what
// was just stored in other pieces waits for the store.
inline void write_line(const TimedTensor& tensor, const std::byte* line, std::uint64_t how, std::byte* to) {
  LineWords words;
  std::memcpy(words.data(), line, sizeof words);
  const LineWords by = free_words(tensor, how);
  const std::size_t a = how % kLineWords;
  const std::size_t b = how / kLineWords % kLineWords;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::memcpy(&first, line + b * sizeof first, sizeof first);
  std::memcpy(&second, line + a * sizeof second, sizeof second);
  for (std::size_t w = 0; w < kLineWords; ++w) words[w] ^= by[w];
  first ^= by[a];
  second ^= by[b];
  std::memcpy(to, words.data(), sizeof words);
  std::memcpy(to + a * sizeof first, &first, sizeof first);
  std::memcpy(to + b * sizeof second, &second, sizeof second);
}

// No number comes again: a kernel could keep what it once made of it.
inline void fill_timed(const TimedTensor& tensor, std::uint64_t seed, std::byte* to) {
  if (tensor.pattern.empty()) return fill_poison({to, static_cast<std::size_t>(tensor.bytes)}, seed);
  const std::span<const std::byte> pattern = tensor.pattern;
  std::size_t from = mixed(seed) % (pattern.size() / tensor.element) * tensor.element;
  std::size_t at = 0;
  for (; tensor.unit == sizeof(LineWords) && at + tensor.unit <= tensor.bytes; at += tensor.unit) {
    const std::uint64_t how = mixed(seed ^ (at + 1));
    if (from + tensor.unit <= pattern.size()) {
      write_line(tensor, &pattern[from], how, to + at);
    } else {
      std::byte line[sizeof(LineWords)];
      repeat_pattern(pattern, from, line);
      write_line(tensor, line, how, to + at);
    }
    from += tensor.unit;
    if (from >= pattern.size()) from %= pattern.size();
  }
  repeat_pattern(pattern, from, {to + at, static_cast<std::size_t>(tensor.bytes) - at});
  if (tensor.unit == 0) return;
  for (; at + tensor.unit <= tensor.bytes; at += tensor.unit) stir(to + at, tensor.unit, mixed(seed ^ (at + 1)));
}

// As laps `first` to `last` leave it. Every line with free bits changes, in one of its words or in all, and every block; else one unit, at a
// place that nobody can tell without reading all of it.
inline void change_timed(const TimedTensor& tensor, std::uint64_t seed, std::uint64_t first, std::uint64_t last, std::byte* to) {
  constexpr std::uint32_t kLine = 64;
  const std::uint64_t units = tensor.unit == 0 ? 0 : tensor.bytes / tensor.unit;
  if (tensor.pattern.empty() || units == 0 || last < first) return;
  LineWords words{};
  std::uint64_t changed = 0;  // which of them, a bit each
  std::uint64_t turns = 0;
  for (std::uint64_t lap = first; lap <= last; ++lap) {
    const std::uint64_t how = mixed(seed + mixed(lap));
    if (tensor.free_bits != 0) {
      const LineWords now = free_words(tensor, how);
      const std::size_t one = how % kLineWords;
      for (std::size_t w = 0; w < kLineWords; ++w) words[w] ^= w == one || tensor.changing > 1 ? now[w] : 0;
      changed |= std::uint64_t{1} << one;
    } else if (tensor.unit != kLine) {
      turns += 1 + how % 7;
    } else {
      stir(to + how % units * tensor.unit, tensor.unit, mixed(how));
    }
  }
  if (std::has_single_bit(changed) && tensor.changing == 1) {
    change_word(to + std::countr_zero(changed) * sizeof words[0], units, words[std::countr_zero(changed)]);
  } else if (changed != 0) {
    for (std::uint64_t u = 0; u < units; ++u) change_free(to + u * tensor.unit, words);
  }
  for (std::uint64_t u = 0; u < units && turns % 8 != 0; ++u) stir(to + u * tensor.unit, tensor.unit, turns);
}

// Of what a call of the slot with this seed wrote to some tensor: polynomials of its words. Fast, since it is taken within what is timed; who
// would forge one has to know the words.
inline std::uint64_t digest_of(std::span<const std::byte> bytes, std::uint64_t seed) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  LineWords sums{};
  const auto add = [&](const LineWords& words) {
    for (std::size_t w = 0; w < kLineWords; ++w) sums[w] = sums[w] * kOdd + words[w];
  };
  std::size_t at = 0;
  LineWords words;
  for (; at + sizeof words <= bytes.size(); at += sizeof words) {
    std::memcpy(words.data(), &bytes[at], sizeof words);
    add(words);
  }
  words = {};
  if (at < bytes.size()) std::memcpy(words.data(), &bytes[at], bytes.size() - at);
  add(words);
  for (const std::uint64_t sum : sums) seed = mixed(seed ^ sum);
  return seed;
}

// Of a slot's tensor: each its own.
inline std::uint64_t tensor_seed(std::uint64_t slot_seed, std::size_t tensor) {
  return mixed(slot_seed) + tensor;
}

// Of all that a call wrote; `bytes_of` gives a tensor's.
template <class BytesOf>
std::uint64_t digest_of_call(std::span<const TimedTensor> tensors, std::uint64_t slot_seed, const BytesOf& bytes_of) {
  std::uint64_t sum = 0;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].pattern.empty() && tensors[t].bytes > 0) sum += digest_of(bytes_of(t), tensor_seed(slot_seed, t));
  }
  return sum;
}

}  // namespace assay
