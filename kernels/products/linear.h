/* y = q(x) w^T as the composition of an ISA's own kernels: quantize, then gemv or gemm, some rows at a time. After an ISA's header,
   which names the ISA of the quantiser where there is none of its own. */
#pragma once

#include "kernels/codecs/codecs.h"
#include "kernels/products/typed.h"
#include "kernels/unit.h"

#ifndef ASSAY_QUANTIZER_ISA
#define ASSAY_QUANTIZER_ISA ASSAY_ISA
#endif

namespace assay {

extern "C" {
AssayStatus ASSAY_PASTE(quantize_q8_0_, ASSAY_QUANTIZER_ISA)(const CodecArgs* args) noexcept;
AssayStatus ASSAY_PASTE(quantize_q8_k_, ASSAY_QUANTIZER_ISA)(const CodecArgs* args) noexcept;
}

namespace {

constexpr int64_t kLinearBytes = 131072;  // of stack for the blocks; near enough to the second-level cache

ASSAY_INLINE AssayStatus quantize(const CodecArgs& args, const BlockQ8_0*) {
  return ASSAY_PASTE(quantize_q8_0_, ASSAY_QUANTIZER_ISA)(&args);
}
ASSAY_INLINE AssayStatus quantize(const CodecArgs& args, const BlockQ8_K*) {
  return ASSAY_PASTE(quantize_q8_k_, ASSAY_QUANTIZER_ISA)(&args);
}

template <class X, class W>
inline AssayStatus linear(const Typed<W, float>& args) {
  constexpr int64_t kElements = kElementsOf<X>;
  if (args.k % kElements != 0 || args.k > ASSAY_LINEAR_MOST_COLUMNS) return ASSAY_BAD_SHAPE;
  constexpr int64_t kBlocks = kLinearBytes / static_cast<int64_t>(sizeof(X));
  static_assert(kBlocks >= ASSAY_LINEAR_MOST_COLUMNS / kElements);
  alignas(64) X x[kBlocks];
  const int64_t blocks = args.k / kElements;
  const int64_t group = blocks == 0 || args.m * blocks <= kBlocks ? args.m : kBlocks / blocks;
  // Rows first .. first + rows - 1 of x to blocks.
  const auto quantize_rows = [&](int64_t first, int64_t rows) {
    return quantize({args.x + first * args.x_stride, x, rows, args.k, args.x_stride, blocks}, x);
  };
  // All rows are looked at before the first output is written: a bad one among the last refuses the whole call.
  for (int64_t first = 0; first < args.m; first += group) {
    const AssayStatus status = quantize_rows(first, at_most(group, args.m - first));
    if (status != ASSAY_OK) return status;
  }
  for (int64_t first = 0; first < args.m; first += group) {
    const int64_t rows = at_most(group, args.m - first);
    if (group < args.m) quantize_rows(first, rows);
    const Typed<W, X> part = {args.w, x, args.y + first * args.y_stride, rows, args.n, args.k, blocks, args.y_stride};
    rows == 1 ? gemv(part) : gemm(part);
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
