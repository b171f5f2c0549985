#pragma once

#include "kernels/simd/exp.h"
#include "kernels/swiglu/swiglu.h"

namespace assay {
namespace {

ASSAY_INLINE F32x16 swiglu(const F32x16& gate, const F32x16& up) {
  return mul(div(gate, add(broadcast(1.0f), exp(neg(gate)))), up);
}

ASSAY_INLINE void swiglu_row(const float* gate, const float* up, float* y, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, swiglu(load(gate + i), load(up + i)));
  const int64_t rest = n - i;
  if (rest > 0) store_tail(y + i, swiglu(load_tail(gate + i, rest), load_tail(up + i, rest)), rest);
}

inline AssayStatus swiglu_body(const SwigluArgs& args) {
  for (int64_t j = 0; j < args.rows; ++j) {
    swiglu_row(args.gate + j * args.gate_stride, args.up + j * args.up_stride, args.y + j * args.y_stride, args.n);
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
