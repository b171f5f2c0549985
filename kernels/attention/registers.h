/* What attention spends an ISA's vector registers on. */
#pragma once

namespace assay {
namespace {

struct Registers {
  int decode_heads;     // query heads that decode takes together, or fewer
  int decode_sums;      // vectors of sums for them
  int prefill_sums;     // vectors of sums; 16 is a multiple of it
  int prefill_vectors;  // vectors of queries that prefill takes together
};

namespace registers {

inline constexpr Registers scalar = {1, 4, 4, 1};

// decode: eight registers of sums, four of keys or values, two of a query or a weight: 14 of 16.
// prefill: eight registers of sums, two of queries or weights, one of a key or a value: 11 of 16.
inline constexpr Registers avx2 = {2, 4, 4, 1};

// decode: sixteen registers of sums, four of keys or values, one of a query or a weight: 21 of 32.
// prefill: sixteen registers of sums, one of queries or weights, one of a key or a value: 18 of 32.
inline constexpr Registers avx512 = {4, 16, 16, 2};

}  // namespace registers
}  // namespace
}  // namespace assay
