// gemv and gemm of blocks by blocks: per pair of blocks two exact integers, times the blocks' scales, summed.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/products/products.h"
#include "reference/blocks.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

// [weights have a minimum][weights and activations have no scales but one f16 each].
extern const Contract kBlockDotContracts[2][2];

// I1 = sum scale code x and I2 = sum min x of each pair of blocks: [m, n, blocks of a row]; I2 is empty without a minimum.
struct IntegerParts {
  std::vector<std::int64_t> i1;
  std::vector<std::int64_t> i2;
};

// One output's terms: value and magnitudes, the latter over finite terms.
struct BlockSum {
  double value = 0;
  double magnitude = 0;  // S_I
  double integers = 0;   // sum(|I1| + |I2|)
  bool scales_overflow = false;
};

// `weights` may be packed; `x`: q8_0 or q8_k. Outputs [m, n].
std::vector<BlockSum> block_sums(DType weights, Format x, const ProductArgs& args);
void block_dot(DType weights, Format x, const ProductArgs& args, Expected& y);
IntegerParts integer_parts(DType weights, Format x, const ProductArgs& args);

}  // namespace assay::reference
