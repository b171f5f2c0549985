#pragma once

#include "kernels/formats/ranges.h"
#include "kernels/quantize_q8_k/quantize_q8_k.h"

namespace assay {
namespace {

ASSAY_INLINE void quantize_block(const float* x, BlockQ8_K& block) {
  const float amax = bits_float(largest_magnitude(x, ASSAY_QK_K));
  const float iscale = amax > 0.0f ? finite_or_zero(-127.0f / first_of_magnitude(x, amax)) : 0.0f;
  block.d = iscale != 0.0f ? 1.0f / iscale : 0.0f;
  const F32x16 scale = broadcast(iscale);
  for (int j = 0; j < 16; ++j) {
    const U8x16 codes = round_s8(mul(scale, load(x + 16 * j)));
    store_bytes(block.qs + 16 * j, codes);
    block.bsums[j] = static_cast<int16_t>(sum_s8(codes));
  }
}

inline AssayStatus quantize_q8_k_body(const QuantizeQ8KArgs& args) {
  if (args.k < 0 || args.k % ASSAY_QK_K != 0) return ASSAY_BAD_SHAPE;
  for (int64_t j = 0; j < args.rows; ++j) {
    if (largest_magnitude(args.src + j * args.src_stride, args.k) >= kInfinityBits) return ASSAY_NOT_FINITE;
  }
  for (int64_t j = 0; j < args.rows; ++j) {
    const float* x = args.src + j * args.src_stride;
    BlockQ8_K* y = args.dst + j * args.dst_stride;
    for (int64_t b = 0; b < args.k / ASSAY_QK_K; ++b) quantize_block(x + b * ASSAY_QK_K, y[b]);
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
