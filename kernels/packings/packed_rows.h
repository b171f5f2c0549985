/* Rows of plain blocks to packed ones and back, for every format. After lines_<isa>.h. */
#pragma once

#include "kernels/packings/packings.h"
#include "kernels/packings/tiles.h"

namespace assay {
namespace {

// Sixteen rows lie one after the other but are read side by side, which the hardware does not follow: while a tile is made, its share
// of the sixteen after the next comes into the second-level cache. Past the end a prefetch does nothing.
template <class Block>
ASSAY_INLINE void prefetch_share(const Block* rows, int64_t b) {
  constexpr int64_t kCacheLine = 64;
  constexpr int64_t kShare = kPackedRows * sizeof(Block);
  const char* const share = reinterpret_cast<const char*>(rows) + b * kShare;
  for (int64_t at = 0; at < kShare; at += kCacheLine) __builtin_prefetch(share + at, 0, 2);
}

template <class Tile, int64_t Elements>
struct Interleaved {
  using Packed = Tile;
  static constexpr int64_t kElements = Elements;
};
template <class Block>
struct PackedForm;
template <>
struct PackedForm<BlockQ8_0> : Interleaved<BlockQ8_0x16, ASSAY_QK> {};
template <>
struct PackedForm<BlockQ4_K> : Interleaved<BlockQ4_Kx16, ASSAY_QK_K> {};
template <>
struct PackedForm<BlockQ6_K> : Interleaved<BlockQ6_Kx16, ASSAY_QK_K> {};

template <class Block>
inline AssayStatus pack_x16(const PackArgs& args) {
  using Form = PackedForm<Block>;
  if (args.k % Form::kElements != 0) return ASSAY_BAD_SHAPE;
  if (args.k == 0) return ASSAY_OK;
  static constexpr Block kPastTheEnd = {};
  const auto* const src = static_cast<const Block*>(args.src);
  auto* const dst = static_cast<typename Form::Packed*>(args.dst);
  const int64_t blocks = args.k / Form::kElements;
  for (int64_t row = 0; row < args.n; row += kPackedRows) {
    for (int64_t b = 0; b < blocks; ++b) {
      prefetch_share(src + (row + 2 * kPackedRows) * blocks, b);
      const Block* rows[kPackedRows];
      for (int r = 0; r < kPackedRows; ++r) rows[r] = row + r < args.n ? src + (row + r) * blocks + b : &kPastTheEnd;
      gather(rows, dst[row / kPackedRows * blocks + b]);
    }
  }
  return ASSAY_OK;
}

template <class Block>
inline AssayStatus unpack_x16(const PackArgs& args) {
  using Form = PackedForm<Block>;
  if (args.k % Form::kElements != 0) return ASSAY_BAD_SHAPE;
  if (args.k == 0) return ASSAY_OK;
  const auto* const src = static_cast<const typename Form::Packed*>(args.src);
  auto* const dst = static_cast<Block*>(args.dst);
  const int64_t blocks = args.k / Form::kElements;
  for (int64_t row = 0; row < args.n; row += kPackedRows) {
    for (int64_t b = 0; b < blocks; ++b) {
      Block past_the_end;
      Block* rows[kPackedRows];
      for (int r = 0; r < kPackedRows; ++r) rows[r] = row + r < args.n ? dst + (row + r) * blocks + b : &past_the_end;
      scatter(src[row / kPackedRows * blocks + b], rows);
    }
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
