/* add

   y[i] = a[i] + b[i].

   a  f32 [n]  in
   b  f32 [n]  in
   y  f32 [n]  out; may be a or b itself, no other overlap
   Alignment: 4 bytes. n = 0 writes nothing. Classes: those of the arithmetic.

   Canonical order: one rounded addition.
   Bound: u |y|.
   Source: IEEE 754-2019, 5.4.1.
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct AddArgs {
  const float* a;
  const float* b;
  float* y;
  int64_t n;
} AddArgs;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct Add {
  using Args = AddArgs;
  static constexpr const char* name = "add";
};

}  // namespace assay
#endif
