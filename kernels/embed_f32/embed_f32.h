/* embed_f32

   y[j, :] = table[ids[j], :], copied as bits.

   table  f32 [vocab, n], row-major, contiguous              in; only the rows asked for are read
   ids    i32 [rows]                                         in; 0 <= id < vocab for all, else ASSAY_OUT_OF_RANGE
   y      f32 [rows, n], row stride y_stride >= n, in elements  out; no overlap; between n and the stride nothing is written
   Alignment: that of the element. rows = 0 or n = 0 writes nothing.
   Exact: bits equal.
   Source: the definition of a look-up.
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct EmbedF32Args {
  const float* table;
  const int32_t* ids;
  float* y;
  int64_t vocab;
  int64_t rows;
  int64_t n;
  int64_t y_stride;
} EmbedF32Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct EmbedF32 {
  using Args = EmbedF32Args;
  static constexpr const char* name = "embed_f32";
};

}  // namespace assay
#endif
