/* Products in plain C++; over blocks a row at a time: the definition that the other variants must match bit for bit. */
#pragma once

#include "kernels/formats/bytes_scalar.h"

#include "kernels/formats/half.h"
#include "kernels/formats/unpack.h"
#include "kernels/simd/prefetch.h"

namespace assay {
namespace {

template <class Number>
inline constexpr Ahead kTunedAhead = {};
constexpr int kRegisterRows = 4;
constexpr int kRegisterColumns = 1;

}  // namespace
}  // namespace assay

#include "kernels/products/decoded_gemm.h"
#include "kernels/products/decoded_gemv.h"
#include "kernels/products/tile_gemv.h"

namespace assay {
namespace {

// The integers of a block: exact in 32 bits.
template <class Code>
inline int32_t group_sum(Code code, const int8_t* x, int first, int count) {
  int32_t sum = 0;
  for (int i = first; i < first + count; ++i) sum += code(i) * x[i];
  return sum;
}

// acc = fma(d_w d_x, I1, acc), then acc = fma(-(dmin_w d_x), I2, acc).
template <class Block, class Code>
inline float add_with_minima(const Block& w, const BlockQ8_K& x, Code code, float acc) {
  const ScalesMins s = unpack_scales_mins(w.scales);
  int32_t i1 = 0;
  int32_t i2 = 0;
  for (int j = 0; j < 8; ++j) {
    i1 += s.sc[j] * group_sum(code, x.qs, 32 * j, 32);
    i2 += s.m[j] * (x.bsums[2 * j] + x.bsums[2 * j + 1]);
  }
  acc = __builtin_fmaf(half_value(w.d) * x.d, static_cast<float>(i1), acc);
  return __builtin_fmaf(-(half_value(w.dmin) * x.d), static_cast<float>(i2), acc);
}

template <class Code>
inline float add_plain(uint16_t d, const BlockQ8_0& x, Code code, float acc) {
  return __builtin_fmaf(half_value(d) * half_value(x.d), static_cast<float>(group_sum(code, x.qs, 0, 32)), acc);
}

inline float add_block(const BlockQ4_K& w, const BlockQ8_K& x, float acc) {
  return add_with_minima(
      w, x, [&](int i) { return code_q4_k(w, i); }, acc);
}
inline float add_block(const BlockQ5_K& w, const BlockQ8_K& x, float acc) {
  return add_with_minima(
      w, x, [&](int i) { return code_q5_k(w, i); }, acc);
}
inline float add_block(const BlockQ6_K& w, const BlockQ8_K& x, float acc) {
  int32_t i1 = 0;
  for (int j = 0; j < 16; ++j) i1 += w.scales[j] * group_sum([&](int i) { return code_q6_k(w, i) - 32; }, x.qs, 16 * j, 16);
  return __builtin_fmaf(half_value(w.d) * x.d, static_cast<float>(i1), acc);
}
inline float add_block(const BlockQ8_0& w, const BlockQ8_0& x, float acc) {
  return add_plain(
      w.d, x, [&](int i) { return w.qs[i]; }, acc);
}
inline float add_block(const BlockQ4_0& w, const BlockQ8_0& x, float acc) {
  return add_plain(
      w.d, x, [&](int i) { return nibble_of_32(w.qs, i) - 8; }, acc);
}
inline float add_block(const BlockQ5_0& w, const BlockQ8_0& x, float acc) {
  return add_plain(
      w.d, x, [&](int i) { return code_q5_of_32(w.qs, w.qh, i) - 16; }, acc);
}

// acc = fma(d_w d_x, I1, acc), then acc = fma(m_w d_x, I2, acc).
inline float add_block(const BlockQ4_1& w, const BlockQ8_0& x, float acc) {
  const int32_t i1 = group_sum([&](int i) { return nibble_of_32(w.qs, i); }, x.qs, 0, 32);
  const int32_t i2 = group_sum([](int) { return 1; }, x.qs, 0, 32);
  const float dx = half_value(x.d);
  acc = __builtin_fmaf(half_value(w.d) * dx, static_cast<float>(i1), acc);
  return __builtin_fmaf(half_value(w.m) * dx, static_cast<float>(i2), acc);
}

// Row r of a packed block, as kernels/formats/packed.h maps its bytes.
inline void take_words(void* dst, const void* lines, int count, int r) {
  for (int l = 0; l < count; ++l) memcpy(static_cast<char*>(dst) + 4 * l, static_cast<const char*>(lines) + 64 * l + 4 * r, 4);
}
inline BlockQ4_K row_of(const BlockQ4_Kx16& tile, int r) {
  BlockQ4_K block;
  block.d = tile.d[r];
  block.dmin = tile.dmin[r];
  take_words(block.scales, tile.scales, 3, r);
  take_words(block.qs, tile.qs, 32, r);
  return block;
}
inline BlockQ6_K row_of(const BlockQ6_Kx16& tile, int r) {
  BlockQ6_K block;
  block.d = tile.d[r];
  take_words(block.scales, tile.scales, 4, r);
  for (int t = 0; t < 16; ++t) {
    const TripleQ6_Kx16& triple = tile.triples[t];
    const int h = t / 8;
    const int i = t % 8;
    memcpy(block.ql + 64 * h + 4 * i, triple.ql[0][r], 4);
    memcpy(block.ql + 64 * h + 32 + 4 * i, triple.ql[1][r], 4);
    memcpy(block.qh + 32 * h + 4 * i, triple.qh[r], 4);
  }
  return block;
}
inline BlockQ8_0 row_of(const BlockQ8_0x16& tile, int r) {
  BlockQ8_0 block;
  block.d = tile.d[r];
  take_words(block.qs, tile.qs, 8, r);
  return block;
}

// Block b of weight row i.
template <class Block, class X>
inline const Block& block_at(const Typed<Block, X>& args, int64_t i, int64_t b) {
  return args.w[i * (args.k / kElementsOf<X>)+b];
}
template <class Tile, class X>
inline auto block_at(const Typed<Packed<Tile>, X>& args, int64_t i, int64_t b) {
  return row_of(args.w[i / 16 * (args.k / kElementsOf<X>)+b], static_cast<int>(i % 16));
}

template <class W, class X>
inline float row_dot(const Typed<W, X>& args, int64_t i, const X* x) {
  float acc = 0.0f;
  for (int64_t b = 0; b < args.k / kElementsOf<X>; ++b) acc = add_block(block_at(args, i, b), x[b], acc);
  return acc;
}

template <class W, class X>
inline AssayStatus gemm(const Typed<W, X>& args) {
  if (args.k % kElementsOf<X> != 0) return ASSAY_BAD_SHAPE;
  for (int64_t j = 0; j < args.m; ++j) {
    for (int64_t i = 0; i < args.n; ++i) args.y[j * args.y_stride + i] = row_dot(args, i, args.x + j * args.x_stride);
  }
  return ASSAY_OK;
}
template <class W, class X>
inline AssayStatus gemv(const Typed<W, X>& args) {
  return gemm(args);
}

}  // namespace
}  // namespace assay
