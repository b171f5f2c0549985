// An op for trials of the bench itself: y = a 1.1f and z = a + b by rows, each within 4096 ulp; b is one row. n < 0 is refused. Its AVX2 kernel is
// whatever is on trial.
#pragma once

#include <sys/mman.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "harness/verdict/check.h"
#include "harness/verdict/suite.h"
#include "reference/ops/describe.h"

namespace assay {

struct PairArgs {
  const float* a;
  const float* b;
  float* y;
  float* z;
  std::int64_t rows;
  std::int64_t n;
  std::int64_t a_stride;
  std::int64_t y_stride;
  std::int64_t z_stride;
  std::int64_t refused;
};

namespace pair_op {

constexpr float kFactor = 1.1F;
constexpr std::int64_t kRows = 3;
constexpr std::int64_t kColumns = 37;

using Kernel = std::function<AssayStatus(const PairArgs&)>;
inline Kernel on_trial;

inline void right(const PairArgs& a) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t i = 0; i < a.n; ++i) {
      const float x = a.a[row * a.a_stride + i];
      a.y[row * a.y_stride + i] = x * kFactor;
      a.z[row * a.z_stride + i] = x + a.b[i];
    }
  }
}
inline AssayStatus pair_scalar(const void* args) noexcept {
  const auto& a = *static_cast<const PairArgs*>(args);
  if (a.refused != 0) return ASSAY_BAD_SHAPE;
  right(a);
  return ASSAY_OK;
}
inline AssayStatus pair_avx2(const void* args) noexcept {
  return on_trial(*static_cast<const PairArgs*>(args));
}

constexpr reference::Contract kContract{"all", reference::Exactness::bounded, "4096 ulp", reference::BiasUnit::output};

inline void set(reference::Expected& out, double truth) {
  out.value.push_back(truth);
  out.bound.push_back(truth == 0 ? 0 : std::ldexp(4096, std::ilogb(truth) - 23));
}
inline void pair_reference(const Op&, const PairArgs& a, std::span<reference::Expected> outputs) {
  for (std::int64_t i = 0; i < a.rows * a.n; ++i) {
    const double x = static_cast<double>(a.a[i / a.n * a.a_stride + i % a.n]);
    set(outputs[0], x * static_cast<double>(kFactor));
    set(outputs[1], x + static_cast<double>(a.b[i % a.n]));
  }
}

inline std::vector<TensorSizes> pair_sizes(const Op&, const PairArgs& a) {
  return {TensorSizes{{a.rows, a.n}, {a.a_stride}}, TensorSizes{{a.rows, a.n}, {a.y_stride}},
          TensorSizes{{a.rows, a.n}, {a.z_stride}}};
}
inline std::vector<TensorSpec> pair_outputs(const Op&, const PairArgs& a) {
  return {strided(output("y", DType::f32, {a.rows, a.n}), {a.y_stride, 1}),
          strided(output("z", DType::f32, {a.rows, a.n}), {a.z_stride, 1})};
}
inline Signature pair_signature(const Op& op, const Params&, const PairArgs& a) {
  return call_of({strided(input("a", DType::f32, {a.rows, a.n}), {a.a_stride, 1}), input("b", DType::f32, {a.n})},
                 pair_outputs(op, a),
                 {{"rows", 1, {{"a", 0}, {"y", 0}, {"z", 0}}, {}},
                  {"n",
                   1,
                   {{"a", 1}, {"b", 0}, {"y", 1}, {"z", 1}},
                   {{"a_stride", a.a_stride}, {"y_stride", a.y_stride}, {"z_stride", a.z_stride}}}});
}
inline AssayStatus pair_refusal(const Op&, const PairArgs& a) {
  return a.refused != 0 ? ASSAY_BAD_SHAPE : ASSAY_OK;
}
inline Cost no_cost(const Op&, const Params&, const void*) {
  return {};
}
inline ShapeSpace pair_shapes(const Op&) {
  return {{{"rows", kRows, 5},
           {"n", kColumns, 100},
           {"a_stride", 0, 0, 1, "n"},
           {"y_stride", 0, 0, 1, "n"},
           {"z_stride", 0, 0, 1, "n"},
           {"refused", 0, 1, 1, nullptr, true}},
          {}};
}
inline std::vector<Params> no_bench(const Op&) {
  return {};
}

constexpr Field kFields[] = {{"a", offsetof(PairArgs, a), FieldKind::tensor},
                             {"b", offsetof(PairArgs, b), FieldKind::tensor},
                             {"y", offsetof(PairArgs, y), FieldKind::tensor},
                             {"z", offsetof(PairArgs, z), FieldKind::tensor},
                             {"rows", offsetof(PairArgs, rows), FieldKind::size},
                             {"n", offsetof(PairArgs, n), FieldKind::size},
                             {"a_stride", offsetof(PairArgs, a_stride), FieldKind::size, same_as<&PairArgs::n>, true},
                             {"y_stride", offsetof(PairArgs, y_stride), FieldKind::size, same_as<&PairArgs::n>, true},
                             {"z_stride", offsetof(PairArgs, z_stride), FieldKind::size, same_as<&PairArgs::n>, true},
                             {"refused", offsetof(PairArgs, refused), FieldKind::number, constant<0>}};
constexpr Family kFamily{.name = "pair",
                         .args = "PairArgs",
                         .header = "tests/pair_op.h",
                         .args_bytes = sizeof(PairArgs),
                         .fields = kFields,
                         .sizes = erased<pair_sizes>,
                         .signature = erased<pair_signature>,
                         .outputs = erased<pair_outputs>,
                         .refusal = erased<pair_refusal>,
                         .reference = erased<pair_reference>,
                         .cost = no_cost,
                         .shapes = pair_shapes,
                         .bench_params = no_bench};
constexpr AnyKernel kKernels[] = {{"pair_avx2", Isa::avx2, pair_avx2}, {"pair_scalar", Isa::scalar, pair_scalar}};
constexpr OpTable kTable{"pair", sizeof(PairArgs), kKernels};
constexpr Op kPair{"pair", &kFamily, &kTable, &kContract};

inline const Params kGaps{
    {"rows", kRows}, {"n", kColumns}, {"a_stride", kColumns + 5}, {"y_stride", kColumns + 3}, {"z_stride", kColumns + 8}};

inline TestCase trial_case(const Params& shape = kGaps, const std::string& data = "gauss") {
  return generated_test_case(kPair, {shape, data, 4});
}
inline CaseResult verdict(const Kernel& kernel, const TestCase& test = trial_case(), const Checks& checks = Checks::all()) {
  on_trial = kernel;
  CaseCheck check(kPair, test, nullptr);
  return check.check(variants_of(kPair).front(), checks);
}
// The right answer, and what is done besides.
inline Kernel and_then(const std::function<void(const PairArgs&)>& spoil) {
  return [spoil](const PairArgs& a) {
    if (a.refused != 0) return ASSAY_BAD_SHAPE;
    right(a);
    spoil(a);
    return ASSAY_OK;
  };
}
inline float ulps_off(float y, int ulps) {
  return y + static_cast<float>(ulps) * (std::nextafter(std::fabs(y), INFINITY) - std::fabs(y));
}
// Of the whole call, not of a part.
inline bool is_whole(const PairArgs& a) {
  return a.rows == kRows && a.n == kColumns;
}
template <class T>
inline void clobber(const T* input, std::int64_t at) {
  const_cast<T*>(input)[at] = 9;
}
// As one that has made the page writable does: no fault tells.
inline void clobber_unprotected(const float* input) {
  const auto address = reinterpret_cast<std::uintptr_t>(input);
  mprotect(const_cast<float*>(input) - address % guard_page_bytes() / sizeof(float), guard_page_bytes(), PROT_READ | PROT_WRITE);
  clobber(input, 0);
}
inline void read(const float* x) {
  static_cast<void>(*static_cast<const volatile float*>(x));
}

}  // namespace pair_op
}  // namespace assay
