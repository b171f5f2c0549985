// Random weights as a file stores them, without a detour over numbers that a quantiser would have to search scales for.
#pragma once

#include <cstdint>
#include <span>

#include "golden/dtype.h"

namespace assay {

struct RandomMatrix {
  DType dtype = DType::f32;  // numbers, or blocks of weights
  std::int64_t cols = 0;     // whole blocks
  double sigma = 1;          // standard deviation of the weights, whose mean is 0
  double mean = 0;           // of f32, f16 and bf16 alone: blocks are centred
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;  // keeps the tensors of one seed apart
};

// Row `row` into dst, as many bytes as the row has. Numbers are uniform over sigma sqrt(3) around the mean. Codes of blocks are uniform over all that
// the format has, the scales within a super-block vary by a factor of two, q4_k's and q5_k's minima are the scales' own (m = sc, dmin =
// (codes - 1) / 2 d), q4_1's and q5_1's are -(codes - 1) / 2 d, so that the weights are symmetric, and the signs of scales are random where the codes are not.
// The words are Philox4x32-10's: key = seed, counter = (block, row, stream, 0).
void random_row(const RandomMatrix& matrix, std::int64_t row, std::span<std::uint8_t> dst);

}  // namespace assay
