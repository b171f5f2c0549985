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

namespace {

bool is_small(double x) {
  return std::abs(x) < kF32.normal();
}

// Truth, and what is written of it.
void set_written(const Arithmetic& how, std::int64_t index, double truth, double bound, Expected& y) {
  bound = written_bound(how, truth, bound);
  set_bounded(y, index, truth, bound);
  if (written_may_overflow(how, truth, bound)) set_bits_only(y, index);
}

// (3u + (1 - sigmoid(gate)) 2Eu)|y| with the products of these errors, and what underflows on the way.
double declared_swiglu_bound(const Arithmetic& how, double gate, double up, double y) {
  if (gate == 0 || up == 0) return 0;
  const double relative = 3 * kU + how.exp_u() / (1 + std::exp(gate));
  const double lost = gate < -88 ? 0x1p-121 : 0x1p-149;
  const double bound =
      relative / (1 - relative) * std::abs(y) + std::abs(up) * (lost + (how.flush ? 2 * kF32.normal() : 0)) + 2 * kEta;
  return how.flush && is_small(up) ? bound + std::abs(y) : bound;
}

}  // namespace

void exp(const ExpArgs& args, Expected& y) {
  declared_exp(args, {}, y);
}

void declared_exp(const ExpArgs& args, const Arithmetic& how, Expected& y) {
  resize_bounded(y, args.n);
  for (std::int64_t i = 0; i < args.n; ++i) {
    const double x = static_cast<double>(args.x[i]);
    const double truth = std::exp(x);  // underflows far below 2^-150, overflows far above FLT_MAX
    set_written(how, i, truth, std::isfinite(x) ? exp_bound(truth, how.exp_ulps()) : 0, y);
  }
}

void add(const AddArgs& args, Expected& y) {
  declared_add(args, {}, y);
}

void declared_add(const AddArgs& args, const Arithmetic& how, Expected& y) {
  resize_bounded(y, args.n);
  for (std::int64_t i = 0; i < args.n; ++i) {
    const auto a = static_cast<double>(args.a[i]);
    const auto b = static_cast<double>(args.b[i]);
    const double lost = how.flush ? (is_small(a) ? std::abs(a) : 0) + (is_small(b) ? std::abs(b) : 0) : 0;
    set_written(how, i, a + b, add_bound(a + b) + lost, y);
  }
}

void swiglu(const SwigluArgs& args, Expected& y) {
  declared_swiglu(args, {}, y);
}

void declared_swiglu(const SwigluArgs& args, const Arithmetic& how, Expected& y) {
  resize_bounded(y, args.rows * args.n);
  for (std::int64_t j = 0; j < args.rows; ++j) {
    for (std::int64_t i = 0; i < args.n; ++i) {
      const double gate = static_cast<double>(args.gate[j * args.gate_stride + i]);
      const double up = static_cast<double>(args.up[j * args.up_stride + i]);
      // As defined, infinities included: gate = -inf is -inf / inf. Below -709 e^-gate is infinite in fp64 and silu
      // -0; the true one is below 1e-305.
      const double silu = gate / (1 + std::exp(-gate));
      const double truth = silu * up;
      set_written(how, j * args.n + i, truth,
                  how.own() ? swiglu_bound(gate, up, truth) : declared_swiglu_bound(how, gate, up, truth), y);
      // 0 * inf is NaN where fp32 has lost silu: exp(-gate) = inf, or gate/2 rounded to zero.
      const bool silu_may_vanish = std::isfinite(gate) && gate != 0 && (gate < -88 || std::abs(silu) <= 2 * kEta);
      if (std::isinf(up) && silu_may_vanish) set_bits_only(y, j * args.n + i, kNotFinite);
    }
  }
}

}  // namespace assay::reference
