/* What matvec and gemm share. */
#pragma once

#include <stdint.h>

namespace assay {
namespace {

// The canonical order adds up blocks of this many columns.
constexpr int64_t kBlock = 64;

template <int64_t Bytes>
ASSAY_INLINE void prefetch_ahead(const void* line) {
  if constexpr (Bytes > 0) __builtin_prefetch(static_cast<const char*>(line) + Bytes);
  (void)line;
}

ASSAY_INLINE int64_t at_most(int64_t a, int64_t b) {
  return a < b ? a : b;
}

}  // namespace
}  // namespace assay
