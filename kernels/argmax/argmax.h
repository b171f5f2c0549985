/* argmax

   index[0] = the first i with x[i] = max over x.

   x      f32 [n]  in; -0 equals +0; infinities are values like others
   index  i32 [1]  out
   n = 0, or n >= 2^31, is ASSAY_BAD_SHAPE; a NaN anywhere is ASSAY_NOT_FINITE.
   Alignment: 4 bytes.
   Exact: bits equal.
   Source: the definition; ties go to the first, as NumPy's and PyTorch's do.
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct ArgmaxArgs {
  const float* x;
  int32_t* index;
  int64_t n;
} ArgmaxArgs;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct Argmax {
  using Args = ArgmaxArgs;
  static constexpr const char* name = "argmax";
};

}  // namespace assay
#endif
