#include "harness/verdict/discipline/poison.h"

#include <algorithm>
#include <cstring>

namespace assay {
namespace {

// Eight random bytes as such of the kind: little-endian, so the upper byte of each half or float comes last.
std::uint64_t shaped(Poison::Kind kind, std::uint64_t random) {
  switch (kind) {
    case Poison::Kind::nans:  // 0x7f or 0xff above 0x80 .. 0xff
      return random | 0x7f807f807f807f80U;
    case Poison::Kind::numbers:  // floats of an exponent from -15 to 0: 2^-15 to 2
      return (random & 0x87ffffff87ffffffU) | 0x3800000038000000U;
    case Poison::Kind::noise:
      break;
  }
  return random;
}

}  // namespace

Poison::Poison(Kind kind, std::uint64_t seed) {
  for (std::size_t i = 0; i < kPeriod; i += sizeof(std::uint64_t)) {
    const std::uint64_t word = shaped(kind, split_mix(seed));
    std::memcpy(&stream_[i], &word, sizeof word);
  }
}

template <class Visit>
void Poison::for_each_piece(const void* origin, const std::uint8_t* begin, const std::uint8_t* end, Visit visit) const {
  std::size_t at =
      static_cast<std::size_t>(begin - static_cast<const std::uint8_t*>(origin)) % kPeriod;  // modulo 2^64 before the base
  while (begin < end) {
    const std::size_t bytes = std::min(kPeriod - at, static_cast<std::size_t>(end - begin));
    if (!visit(begin, &stream_[at], bytes)) return;
    begin += bytes;
    at = 0;
  }
}

void Poison::fill(const void* origin, std::uint8_t* begin, const std::uint8_t* end) const {
  for_each_piece(origin, begin, end,
                 [begin, first = begin](const std::uint8_t* from, const std::uint8_t* stream, std::size_t bytes) {
                   std::memcpy(begin + (from - first), stream, bytes);
                   return true;
                 });
}

const std::uint8_t* Poison::find_touched(const void* origin, const std::uint8_t* begin, const std::uint8_t* end) const {
  const std::uint8_t* touched = nullptr;
  for_each_piece(origin, begin, end, [&touched](const std::uint8_t* from, const std::uint8_t* stream, std::size_t bytes) {
    if (std::memcmp(from, stream, bytes) != 0) touched = std::mismatch(from, from + bytes, stream).first;
    return touched == nullptr;
  });
  return touched;
}

}  // namespace assay
