/* Arrays copied, widened or narrowed, sixteen elements at a time and a masked tail. After an ISA's header. */
#pragma once

#include <stdint.h>

#include "kernels/abi.h"

namespace assay {
namespace {

struct Copy {
  ASSAY_INLINE F32x16 operator()(const F32x16& v) const { return v; }
  ASSAY_INLINE U16x16 operator()(const U16x16& h) const { return h; }
};
struct WidenF16 {
  ASSAY_INLINE F32x16 operator()(const U16x16& h) const { return widen_f16(h); }
};
struct WidenBf16 {
  ASSAY_INLINE F32x16 operator()(const U16x16& h) const { return widen_bf16(h); }
};
struct NarrowF16 {
  ASSAY_INLINE U16x16 operator()(const F32x16& v) const { return narrow_f16(v); }
};
struct NarrowBf16 {
  ASSAY_INLINE U16x16 operator()(const F32x16& v) const { return narrow_bf16(v); }
};

template <class Function, class From, class To>
ASSAY_INLINE void stream(Function function, const From* src, To* dst, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(dst + i, function(load(src + i)));
  if (i < n) store_tail(dst + i, function(load_tail(src + i, n - i)), n - i);
}

template <class Function, class Args>
inline AssayStatus convert(const Args& args) {
  stream(Function{}, args.src, args.dst, args.n);
  return ASSAY_OK;
}

template <class Function, class Args>
inline AssayStatus embed(const Args& args) {
  for (int64_t j = 0; j < args.rows; ++j) {
    if (args.ids[j] < 0 || args.ids[j] >= args.vocab) return ASSAY_OUT_OF_RANGE;
  }
  for (int64_t j = 0; j < args.rows; ++j) {
    stream(Function{}, args.table + args.ids[j] * args.n, args.y + j * args.y_stride, args.n);
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
