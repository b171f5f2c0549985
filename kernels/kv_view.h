/* What attention reads: keys and values of one layer of one sequence, wherever a cache keeps them. C11 and C++20.

   A view is a list of spans of consecutive absolute positions, ascending, each beginning where the one before ends.
   Every span begins at a multiple of 16; all but the last hold a multiple of 16 positions. So a block of 16 positions,
   which is the unit of attention's arithmetic, never lies in two spans, and no storage changes the order of anything.

   Row of position p, kv head h, of span s: (const T*)s.k + h * s.k_head_stride + (p - s.first) * s.k_row_stride,
   head_dim elements of the op's cache type (f32 or f16); likewise v. Strides are in elements; no two rows of k overlap, nor of v. K and V may
   be the same memory.

   A ring of capacity c (a multiple of 16) shows its oldest block whole, though its first rows may already hold newer
   positions: these are outside the window, and masked rows are never read. */
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

enum { ASSAY_KV_BLOCK = 16 };

typedef struct AssayKvSpan {
  const void* k;
  const void* v;
  int64_t first; /* absolute position of row 0, a multiple of 16 */
  int64_t count; /* positions, > 0 */
  int64_t k_head_stride;
  int64_t k_row_stride;
  int64_t v_head_stride;
  int64_t v_row_stride;
} AssayKvSpan;

ASSAY_C_END
