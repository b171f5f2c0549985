#include "reference/elementwise.h"

#include <cmath>

#include "reference/bounds.h"
#include "reference/outputs.h"

namespace assay::reference {

// A kernel off by a rounding leaves the bounds of exp at once; its polynomial's own error has a sign, so z is not judged.
const Contract kExpContract{"every f32", Exactness::bounded, "E ulp(y), E = 0.939", BiasUnit::none, false, true};
const Contract kAddContract{"every f32", Exactness::bounded, "u |y|", BiasUnit::output};
const Contract kSwigluContract{
    "every f32; only bits where up is infinite and silu(gate) may underflow to 0",
    Exactness::bounded,
    "(3u + (1 - sigmoid(gate)) 2Eu)(1 + 8u)|y| + |up| (2^-121 where gate < -88, else 2^-149) + 2 eta; 0 where gate or up is 0",
    BiasUnit::output,
    false,
    true};

void exp(const ExpArgs& args, Expected& y) {
  resize_bounded(y, args.n);
  for (std::int64_t i = 0; i < args.n; ++i) {
    const double x = static_cast<double>(args.x[i]);
    const double truth = std::exp(x);  // underflows far below 2^-150, overflows far above FLT_MAX
    set_bounded(y, i, truth, std::isfinite(x) ? exp_bound(truth) : 0);
  }
}

void add(const AddArgs& args, Expected& y) {
  resize_bounded(y, args.n);
  for (std::int64_t i = 0; i < args.n; ++i) {
    const double truth = static_cast<double>(args.a[i]) + static_cast<double>(args.b[i]);
    set_bounded(y, i, truth, add_bound(truth));
  }
}

void swiglu(const SwigluArgs& args, Expected& y) {
  resize_bounded(y, args.rows * args.n);
  for (std::int64_t j = 0; j < args.rows; ++j) {
    for (std::int64_t i = 0; i < args.n; ++i) {
      const double gate = static_cast<double>(args.gate[j * args.gate_stride + i]);
      const double up = static_cast<double>(args.up[j * args.up_stride + i]);
      // As defined, infinities included: gate = -inf is -inf / inf. Below -709 e^-gate is infinite in fp64 and silu
      // -0; the true one is below 1e-305.
      const double silu = gate / (1 + std::exp(-gate));
      const double truth = silu * up;
      set_bounded(y, j * args.n + i, truth, swiglu_bound(gate, up, truth));
      // 0 * inf is NaN where fp32 has lost silu: exp(-gate) = inf, or gate/2 rounded to zero.
      const bool silu_may_vanish = std::isfinite(gate) && gate != 0 && (gate < -88 || std::abs(silu) <= 2 * kEta);
      if (std::isinf(up) && silu_may_vanish) set_bits_only(y, j * args.n + i);
    }
  }
}

}  // namespace assay::reference
