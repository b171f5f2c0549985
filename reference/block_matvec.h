// gemv and gemm of blocks by f32 activations: the weights decoded to f32, then a matvec.
#pragma once

#include <cstdint>

#include "reference/blocks.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

extern const Contract kBlockMatvecContract;

// w: n dense rows of k elements; x: m rows of k, x_stride apart.
void block_matvec(Format format, const void* w, const float* x, std::int64_t m, std::int64_t n, std::int64_t k,
                  std::int64_t x_stride, Expected& y);

template <Format kWeight, class Args>
void block_matvec(const Args& args, Expected& y) {
  if constexpr (requires { args.m; }) {
    block_matvec(kWeight, args.w, args.x, args.m, args.n, args.k, args.x_stride, y);
  } else {
    block_matvec(kWeight, args.w, args.x, 1, args.n, args.k, args.k, y);
  }
}

}  // namespace assay::reference
