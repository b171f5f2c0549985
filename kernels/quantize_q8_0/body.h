#pragma once

#include "kernels/formats/ranges.h"
#include "kernels/quantize_q8_0/quantize_q8_0.h"

namespace assay {
namespace {

ASSAY_INLINE void quantize_block(const float* x, BlockQ8_0& block) {
  const float amax = bits_float(largest_magnitude(x, ASSAY_QK));
  const F32x16 inverse = broadcast(finite_or_zero(127.0f / amax));
  block.d = to_half(amax / 127.0f);
  store_bytes(block.qs, round_s8(mul(load(x), inverse)));
  store_bytes(block.qs + 16, round_s8(mul(load(x + 16), inverse)));
}

inline AssayStatus quantize_q8_0_body(const QuantizeQ80Args& args) {
  if (args.k < 0 || args.k % ASSAY_QK != 0) return ASSAY_BAD_SHAPE;
  for (int64_t j = 0; j < args.rows; ++j) {
    const uint32_t amax = largest_magnitude(args.src + j * args.src_stride, args.k);
    if (amax >= kInfinityBits || !fits_half(bits_float(amax) / 127.0f)) return ASSAY_NOT_FINITE;
  }
  for (int64_t j = 0; j < args.rows; ++j) {
    const float* x = args.src + j * args.src_stride;
    BlockQ8_0* y = args.dst + j * args.dst_stride;
    for (int64_t b = 0; b < args.k / ASSAY_QK; ++b) quantize_block(x + b * ASSAY_QK, y[b]);
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
