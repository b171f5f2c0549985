/* Rows of a cache into another. After an ISA's header. */
#pragma once

#include <stdint.h>

#include "kernels/abi.h"
#include "kernels/simd/stream.h"

namespace assay {
namespace {

template <class Args>
inline AssayStatus kv_copy(const Args& args) {
  if ((args.n_kv | args.positions | args.head_dim) < 0) return ASSAY_BAD_SHAPE;
  if (args.src_row_stride < args.head_dim || args.dst_row_stride < args.head_dim) return ASSAY_BAD_SHAPE;
  for (int64_t h = 0; h < args.n_kv; ++h) {
    const auto* src = args.src + h * args.src_head_stride;
    auto* dst = args.dst + h * args.dst_head_stride;
    for (int64_t p = 0; p < args.positions; ++p) {
      stream(Copy{}, src + p * args.src_row_stride, dst + p * args.dst_row_stride, args.head_dim);
    }
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
