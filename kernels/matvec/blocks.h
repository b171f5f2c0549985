/* What matvec and gemm share. */
#pragma once

#include <stdint.h>

namespace assay {
namespace {

// The canonical order adds up blocks of this many columns.
constexpr int64_t kBlock = 64;

ASSAY_INLINE int64_t at_most(int64_t a, int64_t b) {
  return a < b ? a : b;
}

}  // namespace
}  // namespace assay
