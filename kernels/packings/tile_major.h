/* Row-major to tile-major [ceil(n/32), k, 32] and back, over any element that load, store and transpose16 know.
   After an ISA's header. */
#pragma once

#include "kernels/packings/packings.h"

namespace assay {
namespace {

inline constexpr int64_t kTileRows = ASSAY_TILE_ROWS;

ASSAY_INLINE int64_t clamp_to_lanes(int64_t n) {
  return n < 0 ? 0 : n < kLanes ? n : kLanes;
}

// Sixteen rows, of which `rows` exist, into 16 of the 32 lanes of each line.
template <class Element>
inline void pack_half_tile(const Element* src, Element* dst, int64_t rows, int64_t k, int64_t stride) {
  for (int64_t c = 0; c < k; c += kLanes) {
    const int64_t columns = clamp_to_lanes(k - c);
    decltype(load(src)) block[16];
    for (int64_t r = 0; r < 16; ++r) {
      if (r >= rows) {
        block[r] = load_tail(src, 0);
      } else if (columns == kLanes) {
        block[r] = load(src + r * stride + c);
      } else {
        block[r] = load_tail(src + r * stride + c, columns);
      }
    }
    transpose16(block);
    for (int64_t j = 0; j < columns; ++j) store(dst + (c + j) * kTileRows, block[j]);
  }
}

template <class Element>
inline void unpack_half_tile(const Element* src, Element* dst, int64_t rows, int64_t k, int64_t stride) {
  for (int64_t c = 0; c < k; c += kLanes) {
    const int64_t columns = clamp_to_lanes(k - c);
    decltype(load(src)) block[16];
    for (int64_t j = 0; j < 16; ++j) {
      block[j] = j < columns ? load(src + (c + j) * kTileRows) : load_tail(src, 0);
    }
    transpose16(block);
    for (int64_t r = 0; r < rows; ++r) {
      if (columns == kLanes) {
        store(dst + r * stride + c, block[r]);
      } else {
        store_tail(dst + r * stride + c, block[r], columns);
      }
    }
  }
}

template <class Element>
inline AssayStatus pack_tile(const PackArgs& args) {
  if (args.k == 0) return ASSAY_OK;
  for (int64_t row = 0; row < args.n; row += kTileRows) {
    for (int64_t half = 0; half < kTileRows; half += kLanes) {
      const int64_t first = row + half;
      const int64_t rows = clamp_to_lanes(args.n - first);
      // With no row left the source is not read; the pointer must still be one into the matrix.
      const Element* src = static_cast<const Element*>(args.src) + (rows > 0 ? first : row) * args.src_stride;
      pack_half_tile(src, static_cast<Element*>(args.dst) + row * args.k + half, rows, args.k, args.src_stride);
    }
  }
  return ASSAY_OK;
}

template <class Element>
inline AssayStatus unpack_tile(const PackArgs& args) {
  if (args.k == 0) return ASSAY_OK;
  for (int64_t row = 0; row < args.n; row += kLanes) {
    const int64_t tile = row / kTileRows * kTileRows;
    const Element* src = static_cast<const Element*>(args.src) + tile * args.k + (row - tile);
    Element* dst = static_cast<Element*>(args.dst) + row * args.dst_stride;
    unpack_half_tile(src, dst, clamp_to_lanes(args.n - row), args.k, args.dst_stride);
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
