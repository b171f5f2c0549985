#include "kernels/unit.h"

#include ASSAY_HEADER(simd, ASSAY_ISA)

#include "kernels/activations/activations.h"
#include "kernels/simd/exp.h"

namespace assay {
namespace {

inline AssayStatus exp_body(const ExpArgs& args) {
  int64_t i = 0;
  for (; i + kLanes <= args.n; i += kLanes) store(args.y + i, exp(load(args.x + i)));
  if (i < args.n) store_tail(args.y + i, exp(load_tail(args.x + i, args.n - i)), args.n - i);
  return ASSAY_OK;
}

inline AssayStatus add_body(const AddArgs& args) {
  int64_t i = 0;
  for (; i + kLanes <= args.n; i += kLanes) store(args.y + i, add(load(args.a + i), load(args.b + i)));
  const int64_t rest = args.n - i;
  if (rest > 0) store_tail(args.y + i, add(load_tail(args.a + i, rest), load_tail(args.b + i, rest)), rest);
  return ASSAY_OK;
}

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
  if (args.n == 0) return ASSAY_OK;
  for (int64_t j = 0; j < args.rows; ++j) {
    swiglu_row(args.gate + j * args.gate_stride, args.up + j * args.up_stride, args.y + j * args.y_stride, args.n);
  }
  return ASSAY_OK;
}

}  // namespace

#define ASSAY_OP(op) ASSAY_KERNEL_OF(op, op##_body)
#include ASSAY_ROWS

}  // namespace assay
