/* Arrays copied, widened or narrowed, sixteen elements at a time and a masked tail. After an ISA's header. */
#pragma once

#include <stdint.h>

namespace assay {
namespace {

struct Copy {
  ASSAY_INLINE F32x16 operator()(const F32x16& v) const { return v; }
  ASSAY_INLINE U16x16 operator()(const U16x16& h) const { return h; }
  ASSAY_INLINE F32x16 operator()(const float* p) const { return load(p); }
};
struct WidenF16 {
  ASSAY_INLINE F32x16 operator()(const U16x16& h) const { return widen_f16(h); }
  ASSAY_INLINE F32x16 operator()(const uint16_t* p) const { return widen_f16(p); }
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

// Types of elements as the rows of ops.inc name them: how one is stored, and its ways to f32 and back.
namespace element {

struct f32 {
  using Stored = float;
  using Widen = Copy;
  using Narrow = Copy;
};
struct f16 {
  using Stored = uint16_t;
  using Widen = WidenF16;
  using Narrow = NarrowF16;
};
struct bf16 {
  using Stored = uint16_t;
  using Widen = WidenBf16;
  using Narrow = NarrowBf16;
};

}  // namespace element

template <class Function, class From, class To>
ASSAY_INLINE void stream(Function function, const From* src, To* dst, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(dst + i, function(load(src + i)));
  if (i < n) store_tail(dst + i, function(load_tail(src + i, n - i)), n - i);
}

}  // namespace
}  // namespace assay
