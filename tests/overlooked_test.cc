// What a bench is apt to overlook, each by a kernel that is wrong in nothing else: the second output, the second row, the second input,
// the second of two cuts.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>
#include <thread>
#include <utility>

#include "harness/verdict/check.h"
#include "harness/verdict/placements.h"
#include "harness/verdict/suite.h"
#include "kernels/codecs/codecs.h"
#include "kernels/conversions/conversions.h"
#include "kernels/norms/norms.h"
#include "reference/ops/describe.h"

namespace assay {

// An op for trials: y = a 1.1f and z = a + b by rows, each within 4096 ulp; b is one row. n < 0 is refused.
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

namespace {

constexpr float kFactor = 1.1F;
constexpr std::int64_t kRows = 3;
constexpr std::int64_t kColumns = 37;

using Kernel = std::function<AssayStatus(const PairArgs&)>;
Kernel on_trial;

void right(const PairArgs& a) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t i = 0; i < a.n; ++i) {
      const float x = a.a[row * a.a_stride + i];
      a.y[row * a.y_stride + i] = x * kFactor;
      a.z[row * a.z_stride + i] = x + a.b[i];
    }
  }
}
AssayStatus pair_scalar(const void* args) noexcept {
  const auto& a = *static_cast<const PairArgs*>(args);
  if (a.refused != 0) return ASSAY_BAD_SHAPE;
  right(a);
  return ASSAY_OK;
}
AssayStatus pair_avx2(const void* args) noexcept {
  return on_trial(*static_cast<const PairArgs*>(args));
}

constexpr reference::Contract kContract{"all", reference::Exactness::bounded, "4096 ulp", reference::BiasUnit::output};

void set(reference::Expected& out, double truth) {
  out.value.push_back(truth);
  out.bound.push_back(truth == 0 ? 0 : std::ldexp(4096, std::ilogb(truth) - 23));
}
void pair_reference(const Op&, const PairArgs& a, std::span<reference::Expected> outputs) {
  for (std::int64_t i = 0; i < a.rows * a.n; ++i) {
    const double x = static_cast<double>(a.a[i / a.n * a.a_stride + i % a.n]);
    set(outputs[0], x * static_cast<double>(kFactor));
    set(outputs[1], x + static_cast<double>(a.b[i % a.n]));
  }
}

std::vector<TensorSizes> pair_sizes(const Op&, const PairArgs& a) {
  return {TensorSizes{{a.rows, a.n}, {a.a_stride}}, TensorSizes{{a.rows, a.n}, {a.y_stride}},
          TensorSizes{{a.rows, a.n}, {a.z_stride}}};
}
std::vector<TensorSpec> pair_outputs(const Op&, const PairArgs& a) {
  return {strided(output("y", DType::f32, {a.rows, a.n}), {a.y_stride, 1}),
          strided(output("z", DType::f32, {a.rows, a.n}), {a.z_stride, 1})};
}
Signature pair_signature(const Op& op, const Params&, const PairArgs& a) {
  return call_of({strided(input("a", DType::f32, {a.rows, a.n}), {a.a_stride, 1}), input("b", DType::f32, {a.n})},
                 pair_outputs(op, a),
                 {{"rows", 1, {{"a", 0}, {"y", 0}, {"z", 0}}, {}},
                  {"n",
                   1,
                   {{"a", 1}, {"b", 0}, {"y", 1}, {"z", 1}},
                   {{"a_stride", a.a_stride}, {"y_stride", a.y_stride}, {"z_stride", a.z_stride}}}});
}
AssayStatus pair_refusal(const Op&, const PairArgs& a) {
  return a.refused != 0 ? ASSAY_BAD_SHAPE : ASSAY_OK;
}
Cost no_cost(const Op&, const Params&, const void*) {
  return {};
}
ShapeSpace pair_shapes(const Op&) {
  return {{{"rows", kRows, 5},
           {"n", kColumns, 100},
           {"a_stride", 0, 0, 1, "n"},
           {"y_stride", 0, 0, 1, "n"},
           {"z_stride", 0, 0, 1, "n"},
           {"refused", 0, 1, 1, nullptr, true}},
          {}};
}
std::vector<Params> no_bench(const Op&) {
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
                         .header = "tests/overlooked_test.cc",
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

const Params kGaps{
    {"rows", kRows}, {"n", kColumns}, {"a_stride", kColumns + 5}, {"y_stride", kColumns + 3}, {"z_stride", kColumns + 8}};

TestCase trial_case(const Params& shape = kGaps, const std::string& data = "gauss") {
  return generated_test_case(kPair, {shape, data, 4});
}
CaseResult verdict(const Kernel& kernel, const TestCase& test = trial_case(), const Checks& checks = Checks::all()) {
  on_trial = kernel;
  CaseCheck check(kPair, test, nullptr);
  return check.check(variants_of(kPair).front(), checks);
}
// The right answer, and what is done besides.
Kernel and_then(const std::function<void(const PairArgs&)>& spoil) {
  return [spoil](const PairArgs& a) {
    if (a.refused != 0) return ASSAY_BAD_SHAPE;
    right(a);
    spoil(a);
    return ASSAY_OK;
  };
}
float ulps_off(float y, int ulps) {
  return y + static_cast<float>(ulps) * (std::nextafter(std::fabs(y), INFINITY) - std::fabs(y));
}
// Of the whole call, not of a part.
bool is_whole(const PairArgs& a) {
  return a.rows == kRows && a.n == kColumns;
}
template <class T>
void clobber(const T* input, std::int64_t at) {
  const_cast<T*>(input)[at] = 9;
}
// As one that has made the page writable does: no fault tells.
void clobber_unprotected(const float* input) {
  const auto address = reinterpret_cast<std::uintptr_t>(input);
  mprotect(const_cast<float*>(input) - address % guard_page_bytes() / sizeof(float), guard_page_bytes(), PROT_READ | PROT_WRITE);
  clobber(input, 0);
}
void read(const float* x) {
  static_cast<void>(*static_cast<const volatile float*>(x));
}

struct Trial {
  const char* name;
  Kernel kernel;
  Check check;
  const char* words;
};

const Checks kNoBits = Checks::parse("classes,bound,bias,spread,exact,guard");

class Kernels : public testing::TestWithParam<int> {};

const std::vector<Trial>& trials() {
  static const std::vector<Trial> all = {
      {"bound of the second output", and_then([](const PairArgs& a) { a.z[a.n - 1] = ulps_off(a.z[a.n - 1], 6000); }),
       Check::bound, "z[0, 36]"},
      {"too small", and_then([](const PairArgs& a) { a.y[0] = ulps_off(a.y[0], -6000); }), Check::bound, "y[0, 0]"},
      {"sign", and_then([](const PairArgs& a) { a.y[a.y_stride + 1] *= -1; }), Check::bound, "y[1, 1]"},
      {"class of the second output", and_then([](const PairArgs& a) { a.z[2 * a.z_stride] = NAN; }), Check::classes, "z[2, 0]"},
      {"spread of the second output", and_then([](const PairArgs& a) {
         for (std::int64_t i = 0; i < a.rows * a.n; ++i) {
           float& z = a.z[i / a.n * a.z_stride + i % a.n];
           z = ulps_off(z, i % 2 == 0 ? 16 : -16);
         }
       }),
       Check::spread, "times the scalar kernel's"},
      {"the gap behind the first row", and_then([](const PairArgs& a) { a.y[a.n] = 1; }), Check::guard, "of y, in the gap"},
      {"the gap behind the second row", and_then([](const PairArgs& a) { a.z[a.z_stride + a.n + 1] = 1; }), Check::guard,
       "of z, in the gap"},
      {"the gap of an input", and_then([](const PairArgs& a) { clobber(a.a, a.n); }), Check::guard, "a"},
      {"before an input", and_then([](const PairArgs& a) { clobber(a.b, -1); }), Check::guard, "b"},
      {"the second row of an input", and_then([](const PairArgs& a) { clobber(a.a, a.a_stride); }), Check::guard, "a"},
      {"behind the last row, but in no other page", and_then([](const PairArgs& a) {
         float* const end = a.z + (a.rows - 1) * a.z_stride + a.n;
         if (reinterpret_cast<std::uintptr_t>(end) % guard_page_bytes() != 0) *end = 1;
       }),
       Check::guard, "wrote 1 bytes past the end of z, placed"},
      {"the second row of an input, made writable", and_then([](const PairArgs& a) { clobber_unprotected(a.a + a.a_stride); }),
       Check::guard, "changed its input a, placed"},
      {"the second input", and_then([](const PairArgs& a) { clobber(a.b, 3); }), Check::guard, "b"},
      {"reads before an input", and_then([](const PairArgs& a) { read(a.b - 1); }), Check::guard,
       "4 bytes before the start of b (guard page)"},
      {"reads before an output", and_then([](const PairArgs& a) { read(a.z - 1); }), Check::guard,
       "4 bytes before the start of z (guard page)"},
      {"faults in the second part, of two rows", and_then([](const PairArgs& a) {
         if (a.rows == kRows - kRows / 2) read(a.b - 1);
       }),
       Check::guard, "4 bytes before the start of b (guard page), placed cut by rows"},
      {"adds to what was there",
       [](const PairArgs& a) {
         const float before = *static_cast<volatile float*>(a.y);
         right(a);
         a.y[0] += before;
         return ASSAY_OK;
       },
       Check::classes, "y[0, 0]"},
      {"reads a gap", and_then([](const PairArgs& a) { a.y[0] += 0 * a.a[a.n]; }), Check::classes, "y[0, 0]"},
      {"refuses a part",
       [](const PairArgs& a) {
         right(a);
         return is_whole(a) ? ASSAY_OK : ASSAY_BAD_SHAPE;
       },
       Check::guard, "returned bad_shape when placed cut by rows"},
      {"wrong in part of a row", and_then([](const PairArgs& a) { a.z[0] += a.n == kColumns ? 0 : 1; }), Check::guard,
       "cut by n"},
      {"refuses an alignment",
       [](const PairArgs& a) {
         right(a);
         return is_whole(a) && reinterpret_cast<std::uintptr_t>(a.b) % 64 == 20 ? ASSAY_BAD_PARAMETER : ASSAY_OK;
       },
       Check::guard, "returned bad_parameter when placed"},
  };
  return all;
}

TEST_P(Kernels, AreNamed) {
  const Trial& trial = trials()[static_cast<std::size_t>(GetParam())];
  const CaseResult result = verdict(trial.kernel, trial_case(), kNoBits);
  ASSERT_EQ(result.verdict, Verdict::fail) << trial.name;
  EXPECT_EQ(check_name(result.failure->check), check_name(trial.check)) << trial.name << ": " << result.failure->message;
  EXPECT_NE(result.failure->message.find(trial.words), std::string::npos) << trial.name << ": " << result.failure->message;
}
INSTANTIATE_TEST_SUITE_P(Trials, Kernels, testing::Range(0, static_cast<int>(trials().size())));

TEST(Overlooked, ARightKernelPasses) {
  const CaseResult result = verdict(and_then([](const PairArgs&) {}));
  EXPECT_EQ(result.verdict, Verdict::pass) << (result.failure ? result.failure->message : "");
  EXPECT_EQ(result.compared, 2 * kRows * kColumns);
}

// Two calls that meet: whoever comes first waits for the other, if there is one.
TEST(Overlooked, AKernelThatBearsNoSecondThread) {
  static std::atomic<int> inside = 0;
  const CaseResult result = verdict(and_then([](const PairArgs& a) {
                                      if (is_whole(a)) return;
                                      ++inside;
                                      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
                                      while (inside < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
                                      if (inside >= 2) a.y[0] += 1;
                                    }),
                                    trial_case(), kNoBits);
  ASSERT_EQ(result.verdict, Verdict::fail);
  EXPECT_NE(result.failure->message.find("threads"), std::string::npos) << result.failure->message;
}

// Runs as it would, and keeps how it was asked to.
class Recording final : public Executor {
 public:
  explicit Recording(KernelFunction kernel) : own_(kernel) {}
  Execution run(const Call& call, std::span<const CallPart> parts, const Manner& manner) override {
    if (manner.at_once) callers.insert(parts.size());
    std::set<std::int64_t> rows;
    for (const CallPart& part : parts) rows.insert(part.params.integer("rows"));
    most_sizes = std::max(most_sizes, rows.size());
    return own_.run(call, parts, manner);
  }
  std::set<std::size_t> callers;
  std::size_t most_sizes = 0;  // of one call's parts

 private:
  InProcess own_;
};

TEST(Overlooked, CallersAreSeveralAndTheirPartsUneven) {
  const Op& op = require_op("rms_norm");
  Recording executor(op.kernels().back().run);
  const Params params{{"rows", std::int64_t{64}}, {"n", std::int64_t{1024}}, {"eps", 1e-6}};
  CaseCheck check(op, shape_test_case(op, params), nullptr);
  const CaseResult result = check.check({.name = "recorded", .selection = "", .executor = &executor}, Checks::all(), true);
  EXPECT_FALSE(result.failure) << result.failure->message;
  for (const std::size_t callers : {3U, 4U, 5U, 8U}) EXPECT_TRUE(executor.callers.contains(callers)) << callers;
  EXPECT_GE(executor.most_sizes, 4U);
}

TEST(Overlooked, InputsOfAnotherTypeOrShapeAreRefused) {
  const Op& op = require_op("rms_norm");
  const Params params{{"rows", std::int64_t{4}}, {"n", std::int64_t{8}}, {"eps", 1e-6}};
  const auto call_with = [&](auto change) {
    std::vector<Array> inputs = shape_test_case(op, params).inputs;
    change(inputs[0]);
    Call(op, params, std::move(inputs));
  };
  EXPECT_NO_THROW(call_with([](Array&) {}));
  EXPECT_THROW(call_with([](Array& x) { x.dtype = DType::i32; }), std::invalid_argument);
  EXPECT_THROW(call_with([](Array& x) { x.shape = {8, 4}; }), std::invalid_argument);
}

TEST(Overlooked, AnotherRefusalThanTheOneAskedFor) {
  Params shape = kGaps;
  shape.set("refused", 1);
  const TestCase test = trial_case(shape);
  EXPECT_EQ(verdict([](const PairArgs&) { return ASSAY_BAD_SHAPE; }, test).verdict, Verdict::pass);
  EXPECT_EQ(verdict([](const PairArgs&) { return ASSAY_BAD_PARAMETER; }, test).verdict, Verdict::fail);
  EXPECT_EQ(verdict([](const PairArgs& a) { return a.z[1] = 0, ASSAY_BAD_SHAPE; }, test).verdict, Verdict::fail);
}

TEST(Overlooked, WhatTheGoldenKeeps) {
  const Kernel kernel = and_then([](const PairArgs&) {});
  TestCase test = trial_case();
  Kept kept;
  kept.values = {DType::f64, {2}, std::vector<std::uint8_t>(16)};
  kept.index = {3, 40};
  const float* const a = test.inputs[0].as<float>();
  double truth[2] = {static_cast<double>(a[3]) * static_cast<double>(kFactor),
                     static_cast<double>(a[40]) * static_cast<double>(kFactor)};
  const auto with_truth = [&] {
    std::memcpy(kept.values.bytes.data(), truth, sizeof truth);
    test.truth["y"] = kept;
    return verdict(kernel, test, kNoBits);
  };
  EXPECT_EQ(with_truth().verdict, Verdict::pass);
  truth[1] += 1;
  const CaseResult missed = with_truth();
  ASSERT_EQ(missed.verdict, Verdict::fail);
  EXPECT_NE(missed.failure->message.find("y[1, 3]"), std::string::npos) << missed.failure->message;
  test.truth.clear();
  kept.values = {DType::f32, {1}, {1, 2, 3, 4}};
  kept.index = {5};
  test.canonical["z"] = kept;
  const CaseResult other = verdict(kernel, test);
  ASSERT_EQ(other.verdict, Verdict::fail);
  EXPECT_NE(other.failure->message.find("not the golden's canonical bits: z[0, 5]"), std::string::npos) << other.failure->message;
}

// Of an op that is exact: what the golden keeps counts beside the reference.
TEST(Overlooked, BytesThatTheGoldenKeeps) {
  const Op& op = require_op("convert_f32_f16");
  TestCase test = shape_test_case(op, {{"n", std::int64_t{33}}});
  test.truth["dst"] = {{DType::f16, {1}, {1, 2}}, {5}};
  CaseCheck check(op, std::move(test), nullptr);
  const CaseResult result = check.check(variants_of(op).back(), Checks::all());
  ASSERT_TRUE(result.failure);
  EXPECT_NE(result.failure->message.find("dst[5]"), std::string::npos) << result.failure->message;
}

AssayStatus other_payload(const void* args) noexcept {
  const auto& a = *static_cast<const ConvertArgs*>(args);
  const AssayStatus status = require_op("convert_bf16_f32").kernels().back().run(args);
  auto* const bits = static_cast<std::uint32_t*>(a.dst);
  for (std::int64_t i = 0; i < a.n && status == ASSAY_OK; ++i) {
    if ((bits[i] & 0x7fffffff) > 0x7f800000) bits[i] ^= 0x10000;
  }
  return status;
}

TEST(Overlooked, ANanThatIsCopiedKeepsItsPayload) {
  const Op& op = require_op("convert_bf16_f32");
  TestCase test = shape_test_case(op, {{"n", std::int64_t{33}}});
  constexpr std::uint16_t kNan = 0x7fc5;
  std::memcpy(test.inputs[0].bytes.data(), &kNan, sizeof kNan);
  CaseCheck check(op, std::move(test), nullptr);
  EXPECT_FALSE(check.check(variants_of(op).back(), Checks::all()).failure);
  EXPECT_TRUE(check.check(Variant{"planted", Isa::scalar, other_payload}, Checks::parse("exact")).failure);
}

AssayStatus nan_scale(const void* args) noexcept {
  const auto& a = *static_cast<const CodecArgs*>(args);
  const AssayStatus status = require_op("encode_q4_k").kernels().back().run(args);
  constexpr std::uint16_t kNan = 0x7e00;
  if (status == ASSAY_OK && a.k > 0) std::memcpy(a.dst, &kNan, sizeof kNan);
  return status;
}

TEST(Overlooked, ABlockThatDecodesToNan) {
  const Op& op = require_op("encode_q4_k");
  CaseCheck check(op, generated_test_case(op, {{{"n", std::int64_t{512}}}, "gauss", 1}), nullptr);
  EXPECT_FALSE(check.check(variants_of(op).back(), Checks::all()).failure);
  EXPECT_TRUE(check.check(Variant{"planted", Isa::scalar, nan_scale}, Checks::parse("bound")).failure);
}

TEST(Overlooked, TheThirdCallOfSeveral) {
  int calls = 0;
  on_trial = and_then([&calls](const PairArgs& a) {
    if (++calls == 3) a.z[4] = ulps_off(a.z[4], 1);
  });
  CaseCheck check(kPair, trial_case(), nullptr);
  InProcess executor(pair_avx2);
  const CaseResult result = check.check({.name = "planted", .selection = "", .executor = &executor, .canonical = false},
                                        Checks::parse("classes,bound,bits"));
  ASSERT_TRUE(result.failure);
  EXPECT_NE(result.failure->message.find("z[0, 4]"), std::string::npos) << result.failure->message;
}

// Five hundred of 4096 results cut, or rounded up, lean by twelve standard deviations.
TEST(Overlooked, LeaningEitherWay) {
  TestCase test = trial_case({{"rows", std::int64_t{1}}, {"n", std::int64_t{4096}}});
  const auto leaning = [](float away) {
    return and_then([away](const PairArgs& a) {
      for (std::int64_t i = 0; i < std::min<std::int64_t>(a.n, 500); ++i) {
        const double exact = static_cast<double>(a.a[i]) * static_cast<double>(kFactor);
        const double excess = std::fabs(static_cast<double>(a.y[i])) - std::fabs(exact);
        if (excess != 0 && (excess < 0) == (away > 0))
          a.y[i] = std::nextafter(a.y[i], away > 0 ? std::copysign(INFINITY, a.y[i]) : 0.0F);
      }
    });
  };
  const Checks values = Checks::parse("classes,bound,bias");
  EXPECT_EQ(verdict(leaning(1), test, values).verdict, Verdict::pass) << "only the op's own case is judged by its bias";
  test.judge_bias = true;
  for (const float away : {1.0F, -1.0F}) {
    const CaseResult result = verdict(leaning(away), test, values);
    ASSERT_EQ(result.verdict, Verdict::fail) << away;
    EXPECT_EQ(check_name(result.failure->check), check_name(Check::bias)) << result.failure->message;
    EXPECT_LT(std::fabs(*result.z), 24);
  }
  EXPECT_EQ(verdict(and_then([](const PairArgs&) {}), test, values).verdict, Verdict::pass);
  test = trial_case();
  test.judge_bias = true;
  EXPECT_EQ(verdict(and_then([](const PairArgs&) {}), test, values).verdict, Verdict::fail) << "too few units to judge";
}

TEST(Overlooked, ACaseThatZerosFailByTheSecondOutputIsTrusted) {
  TestCase test = trial_case();
  test.tags.clear();
  std::fill(test.inputs[0].bytes.begin(), test.inputs[0].bytes.end(), std::uint8_t{0});
  EXPECT_EQ(verdict(and_then([](const PairArgs&) {}), test, kNoBits).verdict, Verdict::pass);
}

TEST(Overlooked, ADigestIsOfEveryOutputAndTheStatus) {
  const CaseResult whole = verdict(and_then([](const PairArgs&) {}));
  EXPECT_NE(verdict(and_then([](const PairArgs& a) { a.z[4] = ulps_off(a.z[4], 1); })).digest, whole.digest);
  EXPECT_EQ(verdict(and_then([](const PairArgs&) {})).digest, whole.digest);
  const auto nan_of = [](std::uint32_t bits) {
    return and_then([bits](const PairArgs& a) { std::memcpy(a.z, &bits, sizeof bits); });
  };
  EXPECT_EQ(verdict(nan_of(0x7fc00000)).digest, verdict(nan_of(0xffc00123)).digest) << "arithmetic makes any NaN";
  EXPECT_NE(verdict([](const PairArgs& a) { return right(a), ASSAY_BAD_SHAPE; }).digest, whole.digest);
}

// What divides an address is its level: every two tensors have every pair of levels, and every tensor every offset.
TEST(Placements, VaryEveryTwoTensorsApart) {
  const std::vector<std::size_t> alignments{4, 1, 16, 64};
  const auto rows = varied_offsets(alignments, 7);
  const auto level = [](std::size_t offset) { return std::countr_zero(offset | kOffsets); };
  for (std::size_t a = 0; a < alignments.size(); ++a) {
    std::set<std::size_t> offsets;
    for (const auto& row : rows) offsets.insert(row[a]);
    EXPECT_EQ(offsets.size(), kOffsets / alignments[a]) << a;
    for (std::size_t b = 0; b < a; ++b) {
      std::set<std::pair<int, int>> pairs;
      for (const auto& row : rows) pairs.emplace(level(row[a]), level(row[b]));
      const auto levels = [&](std::size_t tensor) { return std::countr_zero(kOffsets / alignments[tensor]) + 1; };
      EXPECT_EQ(std::ssize(pairs), levels(a) * levels(b)) << a << " and " << b;
    }
  }
}

TEST(Placements, EachTensorComesRightBehindEachOther) {
  EXPECT_TRUE(neighbours(1).empty());
  for (std::size_t count = 2; count < 8; ++count) {
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    for (const auto& order : neighbours(count)) {
      EXPECT_EQ(std::set(order.begin(), order.end()).size(), count);
      for (std::size_t i = 1; i < order.size(); ++i) pairs.emplace(order[i - 1], order[i]);
    }
    EXPECT_EQ(pairs.size(), count * (count - 1)) << count;
  }
}

// Rows of 2304 that come out too large by about a third of the bound: those of the bias case are shorter.
AssayStatus leaning_in_long_rows(const void* args) noexcept {
  const auto& a = *static_cast<const RmsNormArgs*>(args);
  const AssayStatus status = require_op("rms_norm").kernels().back().run(args);
  for (std::int64_t i = 0; status == ASSAY_OK && a.n > 2048 && i < a.rows * a.n; ++i)
    a.y[i / a.n * a.y_stride + i % a.n] *= 1 + static_cast<float>(a.n / 96) * 0x1p-24F;
  return status;
}

TEST(Overlooked, LeaningInLongRows) {
  const Op& op = require_op("rms_norm");
  const Checks values = Checks::parse("classes,bound,bias");
  for (const bool is_long : {false, true}) {
    CaseCheck check(op, is_long ? *long_bias_test_case(op) : *bias_test_case(op), nullptr);
    EXPECT_FALSE(check.check(variants_of(op).back(), values).failure);
    const CaseResult result = check.check(Variant{"planted", Isa::scalar, leaning_in_long_rows}, values);
    const std::string_view failed = result.failure ? check_name(result.failure->check) : "";
    EXPECT_EQ(failed, is_long ? check_name(Check::bias) : "");
  }
}

}  // namespace
}  // namespace assay
