/* transpose16 for the vector ISAs, from their interleave: avx2.h and avx512.h end with it. */
#pragma once

namespace assay {
namespace {

// One round puts row i at 2i and row i+8 at 2i+1, lane by lane: the 8 bits of an element's place (row, lane)
// rotate by one. Four rounds exchange row and lane.
template <class V>
ASSAY_INLINE void transpose16(V* rows) {
  for (int round = 0; round < 4; ++round) {
    V next[16];
    for (int i = 0; i < 8; ++i) interleave(rows[i], rows[i + 8], next[2 * i], next[2 * i + 1]);
    for (int i = 0; i < 16; ++i) rows[i] = next[i];
  }
}

}  // namespace
}  // namespace assay
