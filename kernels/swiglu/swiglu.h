/* swiglu

   y[j, i] = silu(gate[j, i]) * up[j, i], silu(g) = g / (1 + e^-g).

   gate  f32 [rows, n], row stride gate_stride >= n, in elements  in
   up    f32 [rows, n], row stride up_stride >= n, in elements    in
   y     f32 [rows, n], row stride y_stride >= n, in elements     out; may be gate or up itself with the same stride, no
                                                                  other overlap; between n and the stride nothing is written
   Alignment: 4 bytes. rows = 0 or n = 0 writes nothing.
   Classes: those of the arithmetic: gate = -inf gives NaN (-inf / +inf).

   Canonical order: (g / (1 + exp(-g))) * up, exp as kernels/exp/exp.h, each operation rounded once.
   Bound: (3u + (1 - sigmoid(g)) 2 E u)(1 + 8u) |y| + |up| (2^-121 where g < -88, else 2^-149) + 2 eta.
   Where up is infinite and g < -88 or |silu(g)| <= 2^-149 (it may round to 0, and 0 * inf is NaN) only bits apply.
   Source: Shazeer, "GLU Variants Improve Transformer", 2020.
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct SwigluArgs {
  const float* gate;
  const float* up;
  float* y;
  int64_t rows;
  int64_t n;
  int64_t gate_stride;
  int64_t up_stride;
  int64_t y_stride;
} SwigluArgs;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct Swiglu {
  using Args = SwigluArgs;
  static constexpr const char* name = "swiglu";
};

}  // namespace assay
#endif
