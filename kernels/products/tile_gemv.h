/* y = W x over tile-major weights, for every ISA and weight type. */
#pragma once

#include "kernels/packings/tile_major.h"
#include "kernels/products/typed.h"
#include "kernels/simd/prefetch.h"

namespace assay {
namespace {

// One tile: lane r of (lo, hi) holds row r and runs its chain.
template <class Widen, Ahead Distance, class Weight>
ASSAY_INLINE void gemv_tile(const Weight* w, const float* x, int64_t k, F32x16& total_lo, F32x16& total_hi) {
  constexpr Widen widen{};
  total_lo = zero();
  total_hi = zero();
  for (int64_t block = 0; block < k; block += kBlock) {
    F32x16 lo = zero();
    F32x16 hi = zero();
    const int64_t end = at_most(block + kBlock, k);
    // Unrolled, GCC reaches the read roof with AVX2 too.
#pragma GCC unroll 4
    for (int64_t c = block; c < end; ++c) {
      const Weight* line = w + c * kTileRows;
      prefetch_line<Distance>(line);
      const F32x16 xc = broadcast(x[c]);
      lo = fma(widen(load(line)), xc, lo);
      hi = fma(widen(load(line + kLanes)), xc, hi);
    }
    // Not total + acc in the first block: that would turn a sum of -0 into +0.
    total_lo = block == 0 ? lo : add(total_lo, lo);
    total_hi = block == 0 ? hi : add(total_hi, hi);
  }
}

template <class Widen, Ahead Distance, class Args>
inline AssayStatus gemv_tiles(const Args& args) {
  for (int64_t row = 0; row < args.n; row += kTileRows) {
    F32x16 lo;
    F32x16 hi;
    gemv_tile<Widen, Distance>(args.w + row * args.k, args.x, args.k, lo, hi);
    const int64_t left = args.n - row;
    if (left >= kTileRows) {
      store(args.y + row, lo);
      store(args.y + row + kLanes, hi);
    } else {
      store_tail(args.y + row, lo, clamp_to_lanes(left));
      if (left > kLanes) store_tail(args.y + row + kLanes, hi, left - kLanes);
    }
  }
  return ASSAY_OK;
}

// kTunedAhead: the distance where the hardware follows the weights by itself. With AVX-512 every one from 512 bytes to 32 KiB costs 2
// to 18 per cent of the read roof.
template <class Number>
inline AssayStatus gemv(const Typed<TileMajor<Number>, float>& args) {
  using Widen = typename Number::Widen;
  return follows_streams() ? gemv_tiles<Widen, kTunedAhead<typename Number::Stored>>(args) : gemv_tiles<Widen, kFarAhead>(args);
}

}  // namespace
}  // namespace assay
