/* rope_table

   cos[j, i], sin[j, i] = cosine and sine of the angle of pair i at position positions[j]; pairs = rot_dim / 2.

   positions  i32 [rows]    in; 0 <= position < 2^24, else ASSAY_OUT_OF_RANGE
   inv_freq   f32 [pairs]   in; read by recipe `freqs` alone (may be null otherwise); a NaN or infinity is ASSAY_NOT_FINITE, a magnitude
                           above 16 ASSAY_BAD_PARAMETER
   cos        f32 [rows, pairs], row stride table_stride >= pairs, in elements  out
   sin        f32 [rows, pairs], the same stride                               out; no overlap with cos
   theta      f64           read by the other recipes: 1 <= theta <= 2^40, else ASSAY_BAD_PARAMETER
   recipe     how the angle comes about; sine and cosine are then taken of that very angle in fp64 and rounded once:
     f64    fl64(position * fl64(theta^(-2i/d))), d = 2 pairs, the exponent fl64(-2i/d), the power correctly rounded
     hf     fl32(position * v), v = fl32(1 / fl32(p)), p = fl64(theta^e), e = fl32(2i/d)
     ggml   a_0 = fl32(position), a_{i+1} = fl32(a_i * s), s = fl32(theta^(-2/d)), the exponent fl64(-2/d)
     freqs  fl32(position * inv_freq[i])
   Alignment: 4 bytes. rows = 0 or pairs = 0 writes nothing. Between pairs and the stride nothing is written.
   An unknown recipe is ASSAY_BAD_PARAMETER.

   Canonical order: power, sine and cosine as kernels/math_f64.inc: double-double power, range reduction
   by a three-part pi/2, Taylor polynomials.
   Bound: half an ulp (f32) of the truth, the sine and cosine of the recipe's own angle, + 2^-50 |truth|.
   Source: Su et al., "RoFormer", 2021; recipes of Hugging Face transformers and ggml (docs/numerics.md).
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef enum AssayRopeRecipe { ASSAY_ROPE_F64 = 0, ASSAY_ROPE_HF = 1, ASSAY_ROPE_GGML = 2, ASSAY_ROPE_FREQS = 3 } AssayRopeRecipe;

typedef struct RopeTableArgs {
  const int32_t* positions;
  const float* inv_freq;
  float* cos;
  float* sin;
  int64_t rows;
  int64_t pairs;
  int64_t table_stride;
  double theta;
  int32_t recipe; /* AssayRopeRecipe */
} RopeTableArgs;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct RopeTable {
  using Args = RopeTableArgs;
  static constexpr const char* name = "rope_table";
};

}  // namespace assay
#endif
