/* A tile's block as gemm reads it again and again: what Format works out of packed bytes lies here ready, code lines first, in the
   first-level cache. The same names as formats.h has. */
#pragma once

#include "kernels/block_dot/formats.h"

namespace assay {
namespace {

// As add_scaled takes it: the ISA's scale, or in f32 the scale itself.
template <bool InF32>
struct ScaleOf {
  using Type = Scale;
  template <int Excess>
  static ASSAY_INLINE Type open(Scale scale) {
    return scale;
  }
};
template <>
struct ScaleOf<true> {
  using Type = Floats;
  template <int Excess>
  static ASSAY_INLINE Type open(Scale scale) {
    return times(to_f32(scale), repeat_f32(1.0f / (1 << Excess)));
  }
};

template <class Format, int64_t Elements = Format::kElements>
struct Opened {  // a super-block
  static constexpr bool kInF32 = kScalesInF32 && Format::kGroups / 2 * Format::kMaxScaled <= 1 << 24;

  Words lines[Format::kElements / 4];
  typename ScaleOf<kInF32>::Type scales[Format::kGroups];
  Words minima[Format::kGroups / 2];
  Floats row_d;
  Floats row_dmin;

  ASSAY_INLINE void open(const Format& format) {
    for_each_index<Format::kGroups>([&](auto group) ASSAY_LAMBDA_INLINE {
      constexpr int G = decltype(group)::value;
      for_each_index<Format::kGroupLines>([&](auto line) ASSAY_LAMBDA_INLINE {
        constexpr int I = decltype(line)::value;
        lines[G * Format::kGroupLines + I] = format.template codes<G, I>();
      });
      scales[G] = ScaleOf<kInF32>::template open<Format::kExcess>(format.template scale<G>());
    });
    for_each_index<Format::kGroups / 2>([&](auto pair) ASSAY_LAMBDA_INLINE {
      constexpr int P = decltype(pair)::value;
      minima[P] = format.template pairs<P>();
    });
    row_d = format.d();
    if constexpr (Format::kOffset == 0) row_dmin = format.dmin();
  }

  template <int G, int I>
  ASSAY_INLINE Words codes() const {
    return load_words(&lines[G * Format::kGroupLines + I]);
  }
  template <int G>
  ASSAY_INLINE auto scale() const {
    return scales[G];
  }
  template <int P>
  ASSAY_INLINE Words pairs() const {
    return minima[P];
  }
  ASSAY_INLINE Floats d() const { return row_d; }
  ASSAY_INLINE Floats dmin() const { return row_dmin; }
};

template <class Format>
struct Opened<Format, ASSAY_QK> {
  Words lines[ASSAY_QK / 4];
  Floats row_d;

  ASSAY_INLINE void open(const Format& format) {
    for_each_index<ASSAY_QK / 4>([&](auto line) ASSAY_LAMBDA_INLINE {
      constexpr int L = decltype(line)::value;
      lines[L] = format.template codes<L>();
    });
    row_d = format.d();
  }

  template <int L>
  ASSAY_INLINE Words codes() const {
    return load_words(&lines[L]);
  }
  ASSAY_INLINE Floats d() const { return row_d; }
};

}  // namespace
}  // namespace assay
