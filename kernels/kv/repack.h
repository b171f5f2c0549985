/* A head-major cache for another capacity, in place. After an ISA's header. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "kernels/kv/kv.h"

namespace assay {
namespace {

// To a lower address: ascending, so that no element is overwritten before it is read.
template <class Element>
ASSAY_INLINE void move_down(const Element* src, Element* dst, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(dst + i, load(src + i));
  store_tail(dst + i, load_tail(src + i, n - i), n - i);
}

// To a higher address: descending.
template <class Element>
ASSAY_INLINE void move_up(const Element* src, Element* dst, int64_t n) {
  int64_t i = n / kLanes * kLanes;
  store_tail(dst + i, load_tail(src + i, n - i), n - i);
  for (i -= kLanes; i >= 0; i -= kLanes) store(dst + i, load(src + i));
}

// A growing cache moves its last head first, a shrinking one its first: no head lands on one that is still to move.
template <class Element>
inline AssayStatus kv_repack(const KvRepackArgs& args) {
  auto* data = static_cast<typename Element::Stored*>(args.data);
  const int64_t from = args.capacity_src;
  const int64_t to = args.capacity_dst;
  if (args.positions < 0 || args.positions > from || args.positions > to) return ASSAY_OUT_OF_RANGE;
  if (args.row == 0 || to == 0) return ASSAY_OK;
  const int64_t kept = args.positions * args.row;
  for (int64_t i = 0; i < args.n_kv; ++i) {
    const int64_t h = to > from ? args.n_kv - 1 - i : i;
    const auto* src = data + h * from * args.row;
    auto* dst = data + h * to * args.row;
    if (dst > src) {
      move_up(src, dst, kept);
    } else if (dst < src) {
      move_down(src, dst, kept);
    }
    memset(dst + kept, 0, static_cast<size_t>(to * args.row - kept) * sizeof *dst);
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
