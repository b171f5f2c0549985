#include "kernels/unit.h"

#include ASSAY_HEADER(simd, ASSAY_ISA)

#include "kernels/lookups/lookups.h"
#include "kernels/simd/stream.h"

namespace assay {
namespace {

template <class Table>
inline AssayStatus embed(const EmbedArgs& args) {
  const auto* table = static_cast<const typename Table::Stored*>(args.table);
  for (int64_t j = 0; j < args.rows; ++j) {
    if (args.ids[j] < 0 || args.ids[j] >= args.vocab) return ASSAY_OUT_OF_RANGE;
  }
  for (int64_t j = 0; j < args.rows; ++j) {
    stream(typename Table::Widen{}, table + args.ids[j] * args.n, args.y + j * args.y_stride, args.n);
  }
  return ASSAY_OK;
}

// False if x holds a NaN; else `maximum` is the greatest element, of either zero any.
ASSAY_INLINE bool max_unless_nan(const float* x, int64_t n, float& maximum) {
  F32x16 m[4];
  for (F32x16& part : m) part = broadcast(-__builtin_inff());
  uint32_t nan = 0;
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {  // four chains, or the latency of max would be the limit
    for (int part = 0; part < 4; ++part) {
      const F32x16 v = load(x + i + part * kLanes);
      nan |= nan_bits(v);
      m[part] = max(m[part], v);
    }
  }
  for (; i < n; i += kLanes) {
    const int64_t rest = n - i;
    const F32x16 v = rest < kLanes ? load_tail_fill(x + i, rest, m[0]) : load(x + i);
    nan |= nan_bits(v);
    m[0] = max(m[0], v);
  }
  maximum = tree_max(max(max(m[0], m[1]), max(m[2], m[3])));
  return nan == 0;
}

// The first i with x[i] == value, which is there.
ASSAY_INLINE int64_t first_equal(const float* x, int64_t n, float value) {
  const F32x16 wanted = broadcast(value);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const uint32_t equal = equal_bits(load(x + i), wanted);
    if (equal != 0) return i + __builtin_ctz(equal);
  }
  while (i + 1 < n && x[i] != value) ++i;
  return i;
}

template <class Element>
inline AssayStatus argmax(const ArgmaxArgs& args) {
  if (args.n == 0 || args.n > INT32_MAX) return ASSAY_BAD_SHAPE;
  float maximum = 0;
  if (!max_unless_nan(args.x, args.n, maximum)) return ASSAY_NOT_FINITE;
  args.index[0] = static_cast<int32_t>(first_equal(args.x, args.n, maximum));
  return ASSAY_OK;
}

}  // namespace

#define ASSAY_OP(op, look_up, type) ASSAY_KERNEL_OF(op, look_up<element::type>)
#include ASSAY_ROWS

}  // namespace assay
