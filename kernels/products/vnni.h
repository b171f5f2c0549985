/* Dots of bytes by VPDPBUSD, four products into 32 bits, exact, for whichever width. After an ISA's lanes and these names of its own;
   avx2.h says what the others do.

   dpbusd(sum, codes, x)     codes without sign, x with
   settled(v)                v, Words or F32x16, in its registers by empty assembly
   signed_codes(w) */
#pragma once

namespace assay {
namespace {

using Dots = Words;
template <int MaxCode>
inline constexpr int kDotLines = 1 << 16;  // 4 * 255 * 127 * 2^14 < 2^31
inline constexpr bool kDotsStart = true;

ASSAY_INLINE Dots dot(Dots sums, Words codes, Words x) {
  return dpbusd(sums, codes, x);
}
ASSAY_INLINE Dots dot(Words codes, Words x) {
  return dot(no_words(), codes, x);
}

using Scale = Words;
template <int J>
ASSAY_INLINE Scale unsigned_scale(Words a) {
  return pick_bytes(a, 0x80808000u + J);
}
template <int J>
ASSAY_INLINE Scale signed_scale(Words a) {
  return shift_right_signed<24>(pick_bytes(a, 0x00808080u + J * 0x01000000u));
}
// Settled: a group's sums are taken out before the next group's are begun. GCC would keep them all, and spill.
ASSAY_INLINE Words add_scaled(Words total, Dots sums, Scale scale) {
  return settled(add(total, mul(sums, scale)));
}
inline constexpr bool kScalesInF32 = true;
ASSAY_INLINE F32x16 add_scaled(F32x16 total, Dots sums, F32x16 scale) {
  return settled(fma(to_f32(sums), scale, total));
}
ASSAY_INLINE Words add_plain(Words total, Dots sums) {
  return add(total, sums);
}

// w + 128, without sign: 128 times the activations' codes is too much.
inline constexpr int kSignedOffset = 128;
inline constexpr int kHighNibbles = 4;
ASSAY_INLINE Words signed_dot(Words total, Words codes, Words x) {
  return dot(total, codes, x);
}

}  // namespace
}  // namespace assay
