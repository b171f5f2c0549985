// For plugins whose library multiplies by plain rows: the layout of their own that they state for tile-major weights.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/abi.h"

namespace assay::plugins {

inline constexpr std::int64_t kTileRows = 32;

// n rows of k, one after the other.
template <class Args>
std::int64_t plain_bytes(const void* args) {
  const Args& call = *static_cast<const Args*>(args);
  return call.n * call.k * static_cast<std::int64_t>(sizeof(*call.w));
}

template <class Args>
AssayStatus pack_plain(const void* args, void* packed) {
  const Args& call = *static_cast<const Args*>(args);
  auto* const rows = static_cast<std::remove_cvref_t<decltype(*call.w)>*>(packed);
  for (std::int64_t i = 0; i < call.n; ++i) {
    const auto* const tile = call.w + i / kTileRows * call.k * kTileRows + i % kTileRows;
    for (std::int64_t c = 0; c < call.k; ++c) rows[i * call.k + c] = tile[c * kTileRows];
  }
  return ASSAY_OK;
}

}  // namespace assay::plugins
