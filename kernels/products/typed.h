/* The columns of ops.inc as types, and ProductArgs with them. After an ISA's header (kernels/simd/<isa>.h). */
#pragma once

#include "kernels/formats/packed.h"
#include "kernels/products/products.h"
#include "kernels/simd/stream.h"

namespace assay {
namespace {

// Weights [ceil(n/32), k, 32].
template <class Number>
struct TileMajor {
  using Element = typename Number::Stored;
};
// Weights [ceil(n/16), blocks].
template <class Tile>
struct Packed {
  using Element = Tile;
};

namespace tile {
using f32 = TileMajor<element::f32>;
using f16 = TileMajor<element::f16>;
using bf16 = TileMajor<element::bf16>;
}  // namespace tile
namespace plain {
using f32 = float;
using q4_0 = BlockQ4_0;
using q4_1 = BlockQ4_1;
using q5_0 = BlockQ5_0;
using q5_1 = BlockQ5_1;
using q8_0 = BlockQ8_0;
using q4_k = BlockQ4_K;
using q5_k = BlockQ5_K;
using q6_k = BlockQ6_K;
using q8_k = BlockQ8_K;
}  // namespace plain
namespace x16 {
using q8_0 = Packed<BlockQ8_0x16>;
using q4_k = Packed<BlockQ4_Kx16>;
using q6_k = Packed<BlockQ6_Kx16>;
}  // namespace x16

template <class Weights>
struct ElementOf {
  using type = Weights;
};
template <class Weights>
  requires requires { typename Weights::Element; }
struct ElementOf<Weights> {
  using type = typename Weights::Element;
};

template <class Weights, class X>
struct Typed {
  using W = typename ElementOf<Weights>::type;
  const W* w;
  const X* x;
  float* y;
  int64_t m;
  int64_t n;
  int64_t k;
  int64_t x_stride;
  int64_t y_stride;
};

template <class Weights, class X>
ASSAY_INLINE Typed<Weights, X> typed(const ProductArgs& a) {
  using W = typename ElementOf<Weights>::type;
  return {static_cast<const W*>(a.w), static_cast<const X*>(a.x), a.y, a.m, a.n, a.k, a.x_stride, a.y_stride};
}

// Of a block: what k must be a multiple of.
template <class Block>
inline constexpr int kElementsOf = 0;
#define ASSAY_FORMAT(name, gguf, elements, ...) \
  template <>                                   \
  inline constexpr int kElementsOf<plain::name> = elements;
#include "kernels/formats/formats.inc"
#undef ASSAY_FORMAT

// The canonical order of sums in f32 adds up blocks of this many columns.
constexpr int64_t kBlock = 64;

}  // namespace
}  // namespace assay
