/* y = q(x) w^T as the composition of an ISA's own kernels: quantize, then gemv or gemm, some rows at a time. */
#pragma once

#include <stdint.h>

#include "kernels/abi.h"
#include "kernels/linear/linear.h"

namespace assay {
namespace {

constexpr int64_t kLinearBytes = 131072;  // of stack for the blocks; near enough to the second-level cache

template <class Function>
struct ArgsOf;
template <class Args>
struct ArgsOf<AssayStatus (*)(const Args*) noexcept> {
  using type = Args;
};

// Rows first .. first + rows - 1 of x to blocks.
template <auto kQuantize, class Block, class Args>
inline AssayStatus quantize_rows(const Args& args, int64_t blocks, int64_t first, int64_t rows, Block* dst) {
  typename ArgsOf<decltype(kQuantize)>::type call = {};
  call.src = args.x + first * args.x_stride;
  call.dst = dst;
  call.rows = rows;
  call.k = args.k;
  call.src_stride = args.x_stride;
  call.dst_stride = blocks;
  return kQuantize(&call);
}

template <auto kGemv, auto kGemm, class Block, class Args>
inline AssayStatus multiply_rows(const Args& args, int64_t blocks, int64_t first, int64_t rows, const Block* x) {
  float* y = args.y + first * args.y_stride;
  if (rows == 1) {
    const typename ArgsOf<decltype(kGemv)>::type call = {args.w, x, y, args.n, args.k};
    return kGemv(&call);
  }
  const typename ArgsOf<decltype(kGemm)>::type call = {args.w, x, y, rows, args.n, args.k, blocks, args.y_stride};
  return kGemm(&call);
}

template <int kElements, class Block, auto kQuantize, auto kGemv, auto kGemm, class Args>
inline AssayStatus linear(const Args& args) {
  if (args.k < 0 || args.k % kElements != 0 || args.k > ASSAY_LINEAR_MOST_COLUMNS) return ASSAY_BAD_SHAPE;
  constexpr int64_t kBlocks = kLinearBytes / static_cast<int64_t>(sizeof(Block));
  static_assert(kBlocks >= ASSAY_LINEAR_MOST_COLUMNS / kElements);
  alignas(64) Block x[kBlocks];
  const int64_t blocks = args.k / kElements;
  const int64_t group = blocks == 0 || args.m * blocks <= kBlocks ? args.m : kBlocks / blocks;
  // All rows are looked at before the first output is written: a bad one among the last refuses the whole call.
  for (int64_t first = 0; first < args.m; first += group) {
    const int64_t rows = args.m - first < group ? args.m - first : group;
    const AssayStatus status = quantize_rows<kQuantize>(args, blocks, first, rows, x);
    if (status != ASSAY_OK) return status;
  }
  for (int64_t first = 0; first < args.m; first += group) {
    const int64_t rows = args.m - first < group ? args.m - first : group;
    if (group < args.m) quantize_rows<kQuantize>(args, blocks, first, rows, x);
    multiply_rows<kGemv, kGemm>(args, blocks, first, rows, x);
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
