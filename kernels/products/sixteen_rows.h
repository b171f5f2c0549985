/* Sums of sixteen rows, of which the last tile has fewer. */
#pragma once

#include "kernels/packings/tiles.h"

namespace assay {
namespace {

// The first `count` of sixteen rows.
ASSAY_INLINE F32x16 load_rows(const float* y, int64_t count) {
  if (count >= kPackedRows) return load(y);
  float lanes[kPackedRows] = {};
  memcpy(lanes, y, static_cast<size_t>(count) * sizeof(float));
  return load(lanes);
}
ASSAY_INLINE void store_rows(float* y, F32x16 sums, int64_t count) {
  if (count >= kPackedRows) {
    store(y, sums);
  } else {
    float lanes[kPackedRows];
    store(lanes, sums);
    memcpy(y, lanes, static_cast<size_t>(count) * sizeof(float));
  }
}

}  // namespace
}  // namespace assay
