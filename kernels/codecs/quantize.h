/* Activations to blocks. After one of the bytes_*.h headers. */
#pragma once

#include "kernels/codecs/encode.h"

namespace assay {
namespace {
namespace quantizer {

struct q8_0 : encoder::q8_0 {
  ASSAY_INLINE static void encode(const float* x, BlockQ8_0& block) {
    const float amax = bits_float(largest_magnitude(x, ASSAY_QK));
    const F32x16 inverse = broadcast(finite_or_zero(127.0f / amax));
    block.d = to_half(amax / 127.0f);
    store_bytes(block.qs, round_s8(mul(load(x), inverse)));
    store_bytes(block.qs + 16, round_s8(mul(load(x + 16), inverse)));
  }
};

struct q8_k : decoder::q8_k {
  ASSAY_INLINE static bool fits(const float* x, int64_t n) { return largest_magnitude(x, n) < kInfinityBits; }
  ASSAY_INLINE static void encode(const float* x, BlockQ8_K& block) {
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
};

}  // namespace quantizer
}  // namespace
}  // namespace assay
