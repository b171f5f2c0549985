/* Rows of new keys or values into a head-major cache. After an ISA's header. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "kernels/abi.h"
#include "kernels/simd/stream.h"

namespace assay {
namespace {

template <class Args>
ASSAY_INLINE AssayStatus check_store(const Args& args) {
  const int64_t sizes = args.tokens | args.n_kv | args.head_dim | args.head_dim_padded | args.capacity;
  if (sizes < 0 || args.head_dim > args.head_dim_padded) return ASSAY_BAD_SHAPE;
  if (args.position < 0 || args.tokens > args.capacity - args.position) return ASSAY_OUT_OF_RANGE;
  return ASSAY_OK;
}

template <class Function, class Args>
inline AssayStatus kv_store(const Args& args) {
  const AssayStatus status = check_store(args);
  if (status != ASSAY_OK || args.head_dim == 0) return status;
  const size_t padding = static_cast<size_t>(args.head_dim_padded - args.head_dim) * sizeof *args.dst;
  for (int64_t h = 0; h < args.n_kv; ++h) {
    auto* dst = args.dst + (h * args.capacity + args.position) * args.head_dim_padded;
    const float* src = args.src + h * args.src_head_stride;
    for (int64_t t = 0; t < args.tokens; ++t) {
      stream(Function{}, src + t * args.src_row_stride, dst, args.head_dim);
      memset(dst + args.head_dim, 0, padding);
      dst += args.head_dim_padded;
    }
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
