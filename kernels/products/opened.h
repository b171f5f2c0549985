/* A tile's block as gemm reads it again and again: what Format works out of packed bytes lies here ready, code lines first, in the
   first-level cache. The names of dot_formats.h; of a super-block, groups and lines may be known when it runs alone. */
#pragma once

#include "kernels/products/dot_formats.h"

namespace assay {
namespace {

// A scale as add_scaled takes it: in words or, without the excess of the sums, in f32. Each load is one of registers: of a copied
// pair of them GCC makes a copy in memory.
template <bool InF32>
struct ReadyScale {
  Words v;
  template <int Excess>
  ASSAY_INLINE void take(Scale scale) {
    v = scale;
  }
  ASSAY_INLINE Scale get() const { return load_words(&v); }
};
template <>
struct ReadyScale<true> {
  float v[kPackedRows];
  template <int Excess>
  ASSAY_INLINE void take(Scale scale) {
    store(v, mul(to_f32(scale), broadcast(1.0f / (1 << Excess))));
  }
  ASSAY_INLINE F32x16 get() const { return load(v); }
};

template <class Format, int64_t Elements = Format::kElements>
struct Opened {  // a super-block
  static constexpr bool kInF32 = kScalesInF32 && Format::kGroups / 2 * Format::kMaxScaled <= 1 << 24;

  Words lines[Format::kElements / 4];
  ReadyScale<kInF32> scales[Format::kGroups];
  Words minima[Format::kGroups / 2];
  float row_d[kPackedRows];
  float row_dmin[kPackedRows];

  ASSAY_INLINE void open(const Format& format) {
    for_each_index<Format::kGroups>([&](auto group) ASSAY_LAMBDA_INLINE {
      constexpr int G = decltype(group)::value;
      for_each_index<Format::kGroupLines>([&](auto line) ASSAY_LAMBDA_INLINE {
        constexpr int I = decltype(line)::value;
        lines[G * Format::kGroupLines + I] = format.template codes<G, I>();
      });
      scales[G].template take<Format::kExcess>(format.template scale<G>());
    });
    for_each_index<Format::kGroups / 2>([&](auto pair) ASSAY_LAMBDA_INLINE {
      constexpr int P = decltype(pair)::value;
      minima[P] = format.template pairs<P>();
    });
    store(row_d, format.d());
    if constexpr (Format::kOffset == 0) store(row_dmin, format.dmin());
  }

  ASSAY_INLINE Words codes(int line) const { return load_words(&lines[line]); }
  ASSAY_INLINE auto scale(int g) const { return scales[g].get(); }
  ASSAY_INLINE Words pairs(int p) const { return load_words(&minima[p]); }
  ASSAY_INLINE F32x16 d() const { return load(row_d); }
  ASSAY_INLINE F32x16 dmin() const { return load(row_dmin); }
};

template <class Format>
struct Opened<Format, ASSAY_QK> {
  Words lines[ASSAY_QK / 4];
  float row_d[kPackedRows];

  ASSAY_INLINE void open(const Format& format) {
    for_each_index<ASSAY_QK / 4>([&](auto line) ASSAY_LAMBDA_INLINE {
      constexpr int L = decltype(line)::value;
      lines[L] = format.template codes<L>();
    });
    store(row_d, format.d());
  }

  template <int L>
  ASSAY_INLINE Words codes() const {
    return load_words(&lines[L]);
  }
  ASSAY_INLINE F32x16 d() const { return load(row_d); }
};

}  // namespace
}  // namespace assay
