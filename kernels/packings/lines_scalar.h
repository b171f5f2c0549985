/* Sixteen rows of bytes to lines of sixteen words, in plain C++; lines_avx2.h must do the same. A line holds one word of 4 bytes
   of each row (kernels/formats/packed.h).

   rows_to_lines<N, Stride>(rows, lines)   line l * Stride takes bytes 4 l .. 4 l + 3 from each pointer, l < N
   lines_to_rows<N, Stride>(lines, rows)   the inverse */
#pragma once

#include <string.h>

#include "kernels/simd/base.h"

namespace assay {
namespace {

template <int N, int Stride = 1>
inline void rows_to_lines(const uint8_t* const* rows, uint8_t (*lines)[16][4]) {
  for (int l = 0; l < N; ++l) {
    for (int r = 0; r < 16; ++r) memcpy(lines[l * Stride][r], rows[r] + 4 * l, 4);
  }
}

template <int N, int Stride = 1>
inline void lines_to_rows(const uint8_t (*lines)[16][4], uint8_t* const* rows) {
  for (int l = 0; l < N; ++l) {
    for (int r = 0; r < 16; ++r) memcpy(rows[r] + 4 * l, lines[l * Stride][r], 4);
  }
}

}  // namespace
}  // namespace assay
