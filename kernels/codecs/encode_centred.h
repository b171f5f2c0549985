/* encode_q6_k: the search of search_centred.h, and its result as bytes. After one of the bytes_*.h headers. */
#pragma once

#include "kernels/codecs/search_centred.h"

namespace assay {
namespace {
namespace encoder {

struct q6_k : decoder::q6_k {
  // The plain scale: the largest magnitude over 128 * 32.
  ASSAY_INLINE static bool fits(const float* x, int64_t n) {
    return super_blocks_fit(
        x, n, [](const float* block) { return fits_half(bits_float(largest_magnitude(block, ASSAY_QK_K)) / 4096.0f); });
  }

  ASSAY_INLINE static void encode(const float* x, BlockQ6_K& out) {
    CentredScales s = {};
    if (bits_float(largest_magnitude(x, ASSAY_QK_K)) > kRoundsToZero) s = search_centred(x);
    out.d = to_half(s.d);
    U8x16 codes[kParts];
    for (int j = 0; j < kParts; ++j) {
      out.scales[j] = static_cast<int8_t>(s.sc[j]);
      const float a = s.d * s.sc[j];
      const F32x16 inverse = broadcast(finite_or_zero(1.0f / a));  // code 0 where the scale is 0
      codes[j] = minus(trunc_s8(centred_code(load(x + j * kPart), inverse)), -32);
    }
    for (int half = 0; half < 2; ++half) {
      for (int i = 0; i < 2; ++i) {
        const U8x16* q = codes + half * 8 + i;  // quarter k is q[2 k]
        store_bytes(out.ql + half * 64 + i * 16, bits_or(bits_and(q[0], 15), shift_left(q[4], 4)));
        store_bytes(out.ql + half * 64 + 32 + i * 16, bits_or(bits_and(q[2], 15), shift_left(q[6], 4)));
        const U8x16 low = bits_or(shift_right(q[0], 4), shift_left(shift_right(q[2], 4), 2));
        const U8x16 high = bits_or(shift_left(shift_right(q[4], 4), 4), shift_left(shift_right(q[6], 4), 6));
        store_bytes(out.qh + half * 32 + i * 16, bits_or(low, high));
      }
    }
  }
};

}  // namespace encoder
}  // namespace
}  // namespace assay
