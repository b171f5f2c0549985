/* Block formats: structs of the bytes as they lie in files and buffers, little endian, without padding.

   A weight or an activation is a block's scale times a small integer; what each field means is docs/formats.md.
   f16 fields are the bits of an IEEE half. C11 and C++20. */
#pragma once

#include "kernels/abi.h"

#ifdef __cplusplus
#define ASSAY_STATIC_ASSERT static_assert
#else
#include <assert.h>
#include <stddef.h>
#define ASSAY_STATIC_ASSERT _Static_assert
#endif

ASSAY_C_BEGIN

enum { ASSAY_QK = 32, ASSAY_QK_K = 256 }; /* elements of a block, of a super-block */

/* w = d (q - 8); element j in the low nibble of qs[j], element j + 16 in the high one. */
typedef struct BlockQ4_0 {
  uint16_t d;
  uint8_t qs[16];
} BlockQ4_0;
ASSAY_STATIC_ASSERT(sizeof(BlockQ4_0) == 18, "q4_0");

/* w = d q + m; nibbles as q4_0. */
typedef struct BlockQ4_1 {
  uint16_t d;
  uint16_t m;
  uint8_t qs[16];
} BlockQ4_1;
ASSAY_STATIC_ASSERT(sizeof(BlockQ4_1) == 20, "q4_1");

/* w = d (q - 16); nibbles as q4_0, the fifth bit of element j (0..31) is bit j of the little-endian qh. */
typedef struct BlockQ5_0 {
  uint16_t d;
  uint8_t qh[4];
  uint8_t qs[16];
} BlockQ5_0;
ASSAY_STATIC_ASSERT(sizeof(BlockQ5_0) == 22, "q5_0");

/* w = d q + m; bits as q5_0. */
typedef struct BlockQ5_1 {
  uint16_t d;
  uint16_t m;
  uint8_t qh[4];
  uint8_t qs[16];
} BlockQ5_1;
ASSAY_STATIC_ASSERT(sizeof(BlockQ5_1) == 24, "q5_1");

/* w = d q. */
typedef struct BlockQ8_0 {
  uint16_t d;
  int8_t qs[32];
} BlockQ8_0;
ASSAY_STATIC_ASSERT(sizeof(BlockQ8_0) == 34, "q8_0");

/* w = d sc q - dmin m, q in 0..15. Eight sub-blocks of 32, each with a 6-bit scale sc and a 6-bit minimum m in scales:
   j < 4: sc = b[j] & 63, m = b[j+4] & 63; else sc = (b[j+4] & 15) | (b[j-4] >> 6) << 4, m = (b[j+4] >> 4) | (b[j] >> 6) << 4.
   qs: for each 64 elements 32 bytes, the first 32 elements low, the next 32 high. */
typedef struct BlockQ4_K {
  uint16_t d;
  uint16_t dmin;
  uint8_t scales[12];
  uint8_t qs[128];
} BlockQ4_K;
ASSAY_STATIC_ASSERT(sizeof(BlockQ4_K) == 144, "q4_k");

/* As q4_k, with a fifth bit: bit s of qh[i] belongs to element i of sub-block s. */
typedef struct BlockQ5_K {
  uint16_t d;
  uint16_t dmin;
  uint8_t scales[12];
  uint8_t qh[32];
  uint8_t qs[128];
} BlockQ5_K;
ASSAY_STATIC_ASSERT(sizeof(BlockQ5_K) == 176, "q5_k");

/* w = d sc (q - 32), one signed scale for 16 elements. In each half of 128 elements (64 bytes L of ql, 32 bytes H of qh), for
   i in 0..31: elements i, i+32, i+64, i+96 are L[i] low, L[i+32] low, L[i] high, L[i+32] high, with bits 0-1, 2-3, 4-5, 6-7
   of H[i] above them. */
typedef struct BlockQ6_K {
  uint8_t ql[128];
  uint8_t qh[64];
  int8_t scales[16];
  uint16_t d;
} BlockQ6_K;
ASSAY_STATIC_ASSERT(sizeof(BlockQ6_K) == 210, "q6_k");

/* x = d q, q in -127..127; bsums[j] is the sum of codes 16 j .. 16 j + 15. Activations alone. */
typedef struct BlockQ8_K {
  float d;
  int8_t qs[256];
  int16_t bsums[16];
} BlockQ8_K;
ASSAY_STATIC_ASSERT(sizeof(BlockQ8_K) == 292, "q8_k");

ASSAY_C_END
