// For plugins whose library multiplies by plain rows: the layout of their own that they state for tile-major weights.
#pragma once

#include <cstdint>

#include "kernels/products/products.h"

namespace assay::plugins {

// A matvec's sizes: it refuses more rows of x than one, and none.
inline bool one_row(const ProductArgs& call) {
  return sizes_fit(call) && call.m == 1;
}

// n rows of k, one after the other.
template <class Element>
std::int64_t plain_bytes(const void* args) {
  const auto& call = *static_cast<const ProductArgs*>(args);
  return call.n * call.k * static_cast<std::int64_t>(sizeof(Element));
}

template <class Element>
AssayStatus pack_plain(const void* args, void* packed) {
  const auto& call = *static_cast<const ProductArgs*>(args);
  auto* const rows = static_cast<Element*>(packed);
  for (std::int64_t i = 0; i < call.n; ++i) {
    const Element* const tile =
        static_cast<const Element*>(call.w) + i / ASSAY_TILE_ROWS * call.k * ASSAY_TILE_ROWS + i % ASSAY_TILE_ROWS;
    for (std::int64_t c = 0; c < call.k; ++c) rows[i * call.k + c] = tile[c * ASSAY_TILE_ROWS];
  }
  return ASSAY_OK;
}

}  // namespace assay::plugins
