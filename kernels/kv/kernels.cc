#include "kernels/unit.h"

#include ASSAY_HEADER(simd, ASSAY_ISA)

#include <string.h>

#include "kernels/kv/kv.h"
#include "kernels/kv/repack.h"
#include "kernels/simd/stream.h"

namespace assay {
namespace {

inline AssayStatus check_store(const KvStoreArgs& args) {
  if (args.head_dim > args.head_dim_padded) return ASSAY_BAD_SHAPE;
  if (args.position < 0 || args.tokens > args.capacity - args.position) return ASSAY_OUT_OF_RANGE;
  return ASSAY_OK;
}

template <class Element>
inline AssayStatus kv_store(const KvStoreArgs& args) {
  using Stored = typename Element::Stored;
  const AssayStatus status = check_store(args);
  if (status != ASSAY_OK || args.tokens == 0 || args.head_dim == 0) return status;
  const size_t padding = static_cast<size_t>(args.head_dim_padded - args.head_dim) * sizeof(Stored);
  for (int64_t h = 0; h < args.n_kv; ++h) {
    Stored* dst = static_cast<Stored*>(args.dst) + (h * args.capacity + args.position) * args.head_dim_padded;
    const float* src = args.src + h * args.src_head_stride;
    for (int64_t t = 0; t < args.tokens; ++t) {
      stream(typename Element::Narrow{}, src + t * args.src_row_stride, dst, args.head_dim);
      memset(dst + args.head_dim, 0, padding);
      dst += args.head_dim_padded;
    }
  }
  return ASSAY_OK;
}

template <class Element>
inline AssayStatus kv_copy(const KvCopyArgs& args) {
  using Stored = typename Element::Stored;
  if (args.src_row_stride < args.head_dim || args.dst_row_stride < args.head_dim) return ASSAY_BAD_SHAPE;
  if (args.positions == 0 || args.head_dim == 0) return ASSAY_OK;
  for (int64_t h = 0; h < args.n_kv; ++h) {
    const Stored* src = static_cast<const Stored*>(args.src) + h * args.src_head_stride;
    Stored* dst = static_cast<Stored*>(args.dst) + h * args.dst_head_stride;
    for (int64_t p = 0; p < args.positions; ++p) {
      stream(Copy{}, src + p * args.src_row_stride, dst + p * args.dst_row_stride, args.head_dim);
    }
  }
  return ASSAY_OK;
}

template <class Element>
inline AssayStatus kv_logits(const LogitsCopyToPositionArgs& args) {
  if (args.dst_stride < args.vocab) return ASSAY_BAD_SHAPE;
  if (args.position < 0 || args.position >= args.positions) return ASSAY_OUT_OF_RANGE;
  stream(Copy{}, args.src, args.dst + args.position * args.dst_stride, args.vocab);
  return ASSAY_OK;
}

}  // namespace

#define ASSAY_OP(op, task, type) ASSAY_KERNEL_OF(op, kv_##task<element::type>)
#include ASSAY_ROWS

}  // namespace assay
