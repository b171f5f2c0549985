// Quantisation of the activations and product in one step: the quantisers' blocks exactly, then the blocks' product, whose sums
// may be taken in any order.
#pragma once

#include <cstdint>

#include "kernels/abi.h"
#include "reference/blocks.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

extern const Contract kLinearContract;

// w: n dense rows of k elements; x: m rows of k floats, x_stride apart; to be quantised to x_format.
struct Linear {
  Format w_format;
  Format x_format;
  const void* w;
  const float* x;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  std::int64_t x_stride;
};
void linear(const Linear& call, Expected& y);

// What a kernel must return for them.
AssayStatus linear_status(const Linear& call);

template <Format kWeight, Format kX, class Args>
Linear linear_call(const Args& args) {
  return {kWeight, kX, args.w, args.x, args.m, args.n, args.k, args.x_stride};
}

template <Format kWeight, Format kX, class Args>
void linear(const Args& args, Expected& y) {
  linear(linear_call<kWeight, kX>(args), y);
}

}  // namespace assay::reference
