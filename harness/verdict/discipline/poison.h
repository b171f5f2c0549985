// What lies where no tensor has an element, on the stack and in outputs before a call: bytes of a random stream, which no kernel can know.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace assay {

class Poison {
 public:
  enum class Kind : std::uint8_t {
    nans,  // every half, bfloat16 and float a NaN or an infinity, signalling ones among them; a code of eight bits is 127 or -1 .. -128
    numbers,  // every float of the size that data have
    noise,    // anything
  };

  Poison(Kind kind, std::uint64_t seed);

  // Over [begin, end), as counted from `origin`, the base of what lies there.
  void fill(const void* origin, std::uint8_t* begin, const std::uint8_t* end) const;
  // The first byte that is not as filled; null if none.
  const std::uint8_t* find_touched(const void* origin, const std::uint8_t* begin, const std::uint8_t* end) const;

 private:
  static constexpr std::size_t kPeriod = 4096;
  // Calls visit(from, to, bytes) for the stretches of [begin, end) that lie in one piece of the stream, until it returns false.
  template <class Visit>
  void for_each_piece(const void* origin, const std::uint8_t* begin, const std::uint8_t* end, Visit visit) const;

  std::array<std::uint8_t, kPeriod> stream_;
};

// The next number of a stream of them (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
inline std::uint64_t split_mix(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15U;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
  z = (z ^ z >> 27) * 0x94d049bb133111ebU;
  return z ^ z >> 31;
}

}  // namespace assay
