/* Rotary position embedding: the rotation, and the table of its sines and cosines. Sizes past those of kernels/sizes.h: ASSAY_BAD_SHAPE. */
#pragma once

#include "kernels/sizes.h"

ASSAY_C_BEGIN

typedef enum AssayRopePairing { ASSAY_ROPE_SPLIT = 0, ASSAY_ROPE_ADJACENT = 1, ASSAY_ROPE_SECTIONED = 2 } AssayRopePairing;

/* rope

   Rotates pairs of dimensions of each head: y0 = x0 c - x1 s, y1 = x1 c + x0 s.

   x    f32 [rows, heads, head_dim], strides x_row_stride, x_head_stride >= head_dim, in elements  in
   cos  f32 [components, rows, pairs], strides component_stride, table_stride, in elements         in; a stride of 0: one for all;
        else they do not overlap
   sin  f32 as cos, the same strides                                                               in
   y    f32 [rows, heads, head_dim], strides y_row_stride, y_head_stride                           out; may be x itself with the
        same strides, no other overlap; between head_dim and the stride nothing is read or written
   pairs = rot_dim / 2; rot_dim even, <= head_dim, else ASSAY_BAD_SHAPE. Dimensions past rot_dim are copied.
   pairing:
     split      (i, i + rot_dim/2), NEOX's halves, as Qwen3 has them; component 0
     adjacent   (2i, 2i + 1), as Llama has them; component 0
     sectioned  pairs as split; pair i takes the component whose section holds i mod (s0+s1+s2+s3), sections
                counted in pairs, and keeps its frequency i. The sum of the sections must be > 0, none negative,
                else ASSAY_BAD_PARAMETER.
     Where there are pairs, a component that is used must be there, else ASSAY_BAD_PARAMETER.
   Alignment: 4 bytes. An empty size writes nothing.
   Classes: those of the arithmetic; copied dimensions keep their bits.

   Canonical order: y0 = fma(x0, c, -(x1 * s)), y1 = fma(x1, c, x0 * s).
   Bound: g(2)(|x0 c| + |x1 s|) + 4 eta (y1: |x1 c| + |x0 s|), against the table's own bits; 0 for copied dimensions.
   Source: Su et al., "RoFormer", 2021; sections: Wang et al., "Qwen2-VL", 2024. */
typedef struct RopeArgs {
  const float* x;
  const float* cos;
  const float* sin;
  float* y;
  int64_t rows;
  int64_t heads;
  int64_t head_dim;
  int64_t rot_dim;
  int64_t components;
  int64_t x_row_stride;
  int64_t x_head_stride;
  int64_t y_row_stride;
  int64_t y_head_stride;
  int64_t table_stride;
  int64_t component_stride;
  int32_t pairing; /* AssayRopePairing */
  int32_t sections[4];
} RopeArgs;

typedef enum AssayRopeRecipe { ASSAY_ROPE_F64 = 0, ASSAY_ROPE_HF = 1, ASSAY_ROPE_GGML = 2, ASSAY_ROPE_FREQS = 3 } AssayRopeRecipe;
#define ASSAY_ROPE_RECIPES "f64", "hf", "ggml", "freqs" /* their names, in their order */

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

   Canonical order: power, sine and cosine as kernels/rope/math_f64.h: double-double power, range reduction
   by a three-part pi/2, Taylor polynomials.
   Bound: half an ulp (f32) of the truth, the sine and cosine of the recipe's own angle, + 2^-50 |truth|.
   Source: Su et al., "RoFormer", 2021; recipes of Hugging Face transformers and ggml (docs/numerics.md). */
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

ASSAY_SIZES_BEGIN

ASSAY_SIZES(RopeArgs, assay_rope_sizes) {
  return assay_volume(a->rows, a->heads, a->head_dim) && assay_volume(a->components, a->rows, a->rot_dim) &&
         assay_area(a->rows, a->x_row_stride) && assay_area(a->heads, a->x_head_stride) && assay_area(a->rows, a->y_row_stride) &&
         assay_area(a->heads, a->y_head_stride) && assay_area(a->rows, a->table_stride) &&
         assay_area(a->components, a->component_stride);
}
ASSAY_SIZES(RopeTableArgs, assay_rope_table_sizes) {
  return assay_area(a->rows, a->pairs) && assay_area(a->rows, a->table_stride);
}

ASSAY_SIZES_END
