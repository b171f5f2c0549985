// gemv and gemm of blocks by blocks: per pair of blocks two exact integers, times the blocks' scales, summed.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/block_packing.h"
#include "reference/blocks.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

// Weights with a minimum; without; those whose scales and activations' scales are f16.
extern const Contract kBlockDotMinContract;
extern const Contract kBlockDotContract;
extern const Contract kBlockDotHalfContract;

// I1 = sum scale code x and I2 = sum min x of each pair of blocks: [m, n, blocks of a row]; I2 is empty without a minimum.
struct IntegerParts {
  std::vector<std::int64_t> i1;
  std::vector<std::int64_t> i2;
};

// w: n dense rows of k elements; x: m rows of k, the rows x_stride blocks apart.
struct BlockDot {
  Format w_format;
  Format x_format;
  const void* w;
  const void* x;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  std::int64_t x_stride;
};
void block_dot(const BlockDot& call, Expected& y);
IntegerParts integer_parts(const BlockDot& call);

// A call's description from its arguments. Packed weights are unpacked into `rows`, which must outlive the description.
template <Format kWeight, Format kX, bool kPacked, class Args>
BlockDot block_dot_call(const Args& args, std::vector<std::uint8_t>& rows) {
  BlockDot call{kWeight, kX, args.w, args.x, 1, args.n, args.k, 0};
  if constexpr (requires { args.m; }) {
    call.m = args.m;
    call.x_stride = args.x_stride;
  }
  if constexpr (kPacked) {
    rows = unpack_x16(kWeight, args.w, args.n, args.k);
    call.w = rows.data();
  }
  return call;
}

template <Format kWeight, Format kX, bool kPacked, class Args>
void block_dot(const Args& args, Expected& y) {
  std::vector<std::uint8_t> rows;
  block_dot(block_dot_call<kWeight, kX, kPacked>(args, rows), y);
}

}  // namespace assay::reference
