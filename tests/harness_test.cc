// The bench on trial: kernels that are wrong in one way each must be named as that.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "harness/reports/report.h"
#include "reference/ops/describe.h"
#include "tests/temporary.h"

namespace assay::harness_test {

// An op for trials: y[i] = x[i] * 1.1f, within 1.5 ulp.
struct TrialArgs {
  const float* x;
  float* y;
  std::int64_t n;
};

namespace {

constexpr float kFactor = 1.1F;

template <class Change>
AssayStatus each(const TrialArgs* args, Change change) {
  for (std::int64_t i = 0; i < args->n; ++i) args->y[i] = change(args->x[i] * kFactor, i);
  return ASSAY_OK;
}

AssayStatus right(const TrialArgs* a) noexcept {
  return each(a, [](float y, std::int64_t) { return y; });
}
AssayStatus four_ulp_off(const TrialArgs* a) noexcept {
  return each(a, [](float y, std::int64_t i) { return i == 3 ? y * (1 + 4 * 0x1p-23F) : y; });
}
AssayStatus nan_for_one(const TrialArgs* a) noexcept {
  return each(a, [](float y, std::int64_t i) { return i == 3 ? NAN : y; });
}
AssayStatus truncates(const TrialArgs* a) noexcept {
  for (std::int64_t i = 0; i < a->n; ++i) {
    const double exact = static_cast<double>(a->x[i]) * kFactor;
    const auto nearest = static_cast<float>(exact);
    a->y[i] = std::fabs(nearest) > std::fabs(exact) ? std::nextafter(nearest, 0.0F) : nearest;
  }
  return ASSAY_OK;
}
AssayStatus drifts(const TrialArgs* a) noexcept {
  for (std::int64_t i = 0; i < a->n; ++i) a->y[i] = a->x[i] * kFactor;
  if (a->n == 5) a->y[4] = std::nextafter(a->y[4], 0.0F);
  return ASSAY_OK;
}
AssayStatus writes_past(const TrialArgs* a) noexcept {
  right(a);
  volatile float* y = a->y;
  y[a->n] = 1;
  return ASSAY_OK;
}
AssayStatus writes_before(const TrialArgs* a) noexcept {
  right(a);
  volatile float* y = a->y;
  y[-1] = 1;
  return ASSAY_OK;
}
AssayStatus reads_past(const TrialArgs* a) noexcept {
  const volatile float* x = a->x;
  const float past = x[a->n];
  return each(a, [past](float y, std::int64_t) { return past == 12345.0F ? past : y; });
}
AssayStatus changes_input(const TrialArgs* a) noexcept {
  right(a);
  if (a->x != a->y && a->n > 0) const_cast<float*>(a->x)[0] = 0;
  return ASSAY_OK;
}
AssayStatus wants_alignment(const TrialArgs* a) noexcept {
  const bool aligned = reinterpret_cast<std::uintptr_t>(a->x) % 64 == 0;
  return each(a, [aligned](float y, std::int64_t) { return aligned ? std::nextafter(y, 0.0F) : y; });
}
AssayStatus wrong_in_place(const TrialArgs* a) noexcept {
  if (a->n > 0) a->y[0] = 0;
  return right(a);
}
AssayStatus refuses(const TrialArgs*) noexcept {
  return ASSAY_BAD_SHAPE;
}
AssayStatus illegal(const TrialArgs*) noexcept {
  __builtin_trap();
  return ASSAY_OK;
}
// Past a terabyte, not at null: there UBSan stops the store before the hardware does.
AssayStatus crashes(const TrialArgs* a) noexcept {
  volatile float* nowhere = a->y;
  nowhere[std::int64_t{1} << 38] = 1;
  return ASSAY_OK;
}
AssayStatus zeros(const TrialArgs* a) noexcept {
  return each(a, [](float, std::int64_t) { return 0.0F; });
}

using KernelFn = AssayStatus (*)(const TrialArgs*) noexcept;
KernelFn on_trial = right;  // what the variant trial_avx2 does

AssayStatus trial_avx2(const void* a) noexcept {
  return on_trial(static_cast<const TrialArgs*>(a));
}
AssayStatus trial_scalar(const void* a) noexcept {
  return right(static_cast<const TrialArgs*>(a));
}

constexpr reference::Contract kTrialContract{"all", reference::Exactness::bounded, "1.5 ulp", reference::BiasUnit::output};

void trial_reference(const Op&, const TrialArgs& a, std::span<reference::Expected> outputs) {
  for (std::int64_t i = 0; i < a.n; ++i) {
    const double truth = static_cast<double>(a.x[i]) * kFactor;
    outputs[0].value.push_back(truth);
    outputs[0].bound.push_back(truth == 0 ? 0 : std::ldexp(1.5, std::ilogb(truth) - 23));
  }
}

std::vector<TensorSizes> trial_sizes(const Op&, const TrialArgs& a) {
  return {TensorSizes{{a.n}}};
}
std::vector<TensorSpec> trial_outputs(const Op&, const TrialArgs& a) {
  return {in_place(output("y", DType::f32, {a.n}), {"x"})};
}
Signature trial_signature(const Op& op, const Params&, const TrialArgs& a) {
  return call_of({input("x", DType::f32, {a.n})}, trial_outputs(op, a), {{"n", 1, {{"x", 0}, {"y", 0}}, {}}});
}
Cost no_cost(const Op&, const Params&, const void*) {
  return {};
}
ShapeSpace trial_shapes(const Op&) {
  return {{{"n", 37, 100}}, {}};
}
GeneratedCase trial_bias(const Op&) {
  return {{{"n", 4096}}, {}, 1};
}
std::vector<Params> no_bench(const Op&) {
  return {};
}

constexpr Field kTrialFields[] = {{"x", offsetof(TrialArgs, x), FieldKind::tensor},
                                  {"y", offsetof(TrialArgs, y), FieldKind::tensor},
                                  {"n", offsetof(TrialArgs, n), FieldKind::size}};
constexpr Family kTrialFamily{.name = "trial",
                              .args = "TrialArgs",
                              .header = "tests/harness_test.cc",
                              .args_bytes = sizeof(TrialArgs),
                              .fields = kTrialFields,
                              .sizes = erased<trial_sizes>,
                              .signature = erased<trial_signature>,
                              .outputs = erased<trial_outputs>,
                              .refusal = nullptr,
                              .reference = erased<trial_reference>,
                              .cost = no_cost,
                              .shapes = trial_shapes,
                              .bias_case = trial_bias,
                              .bench_params = no_bench};
constexpr AnyKernel kTrialKernels[] = {{"trial_avx2", Isa::avx2, trial_avx2}, {"trial_scalar", Isa::scalar, trial_scalar}};
constexpr OpTable kTrialTable{"trial", sizeof(TrialArgs), kTrialKernels};
constexpr Op kTrial{"trial", &kTrialFamily, &kTrialTable, &kTrialContract};

CaseResult verdict_of(CaseCheck check, const Checks& checks) {
  return check.check(variants_of(kTrial).front(), checks);
}

// The verdict on a bad kernel at one generated case; the first variant is the one on trial.
CaseResult verdict_on(KernelFn kernel, const Params& shape = {{"n", std::int64_t{37}}}, const std::string& data = "gauss",
                      const Checks& checks = Checks::all(), const Ledger* ledger = nullptr) {
  on_trial = kernel;
  return verdict_of({kTrial, generated_test_case(kTrial, {shape, data, 4}), ledger}, checks);
}

CaseResult bias_verdict_on(KernelFn kernel) {
  on_trial = kernel;
  return verdict_of({kTrial, *bias_test_case(kTrial), nullptr}, Checks::parse("classes,bound,bias,spread,guard"));
}

void expect_failure(const CaseResult& result, Check check, const std::string& words) {
  ASSERT_EQ(result.verdict, Verdict::fail);
  EXPECT_EQ(check_name(result.failure->check), check_name(check)) << result.failure->message;
  EXPECT_NE(result.failure->message.find(words), std::string::npos) << result.failure->message;
  EXPECT_NE(result.repro.find("assay check trial --isa avx2"), std::string::npos) << result.repro;
}

TEST(Verdict, ARightKernelPasses) {
  const CaseResult result = verdict_on(right);
  EXPECT_EQ(result.verdict, Verdict::pass) << (result.failure ? result.failure->message : "");
  EXPECT_EQ(result.compared, 37);
  EXPECT_GT(result.placements, 16);
  EXPECT_EQ(bias_verdict_on(right).verdict, Verdict::pass);
}

TEST(Verdict, BoundNamesTheWorstElement) {
  expect_failure(verdict_on(four_ulp_off), Check::bound, "y[3] = 0x");
}
TEST(Verdict, ClassesComeFirst) {
  expect_failure(verdict_on(nan_for_one), Check::classes, "y[3] = 0x7fc00000 (nan)");
}
TEST(Verdict, BiasSeesTruncation) {
  expect_failure(bias_verdict_on(truncates), Check::bias, "errors lean to one side");
}
TEST(Verdict, BitsSeeOneUlp) {
  expect_failure(verdict_on(drifts, {{"n", std::int64_t{5}}}), Check::bits, "not the scalar kernel's bits: y[4]");
}
TEST(Verdict, ZerosFail) {
  expect_failure(verdict_on(zeros), Check::bound, "y[");
}
TEST(Verdict, RefusalIsNotAPass) {
  expect_failure(verdict_on(refuses), Check::exact, "returned bad_shape; expected ok");
}

TEST(Verdict, WritingPastTheEndIsNamed) {
  expect_failure(verdict_on(writes_past), Check::guard, "bytes past the end of y (guard page)");
}
TEST(Verdict, WritingBeforeTheStartIsNamed) {
  expect_failure(verdict_on(writes_before), Check::guard, "wrote 4 bytes before the start of y");
}
TEST(Verdict, ReadingPastTheEndIsNamed) {
  expect_failure(verdict_on(reads_past), Check::guard, "past the end of x (guard page)");
}
TEST(Verdict, ChangingAnInputIsNamed) {
  expect_failure(verdict_on(changes_input), Check::guard, "changed its input x");
}
TEST(Verdict, InPlaceIsTried) {
  expect_failure(verdict_on(wrong_in_place), Check::guard, "y in place of x");
}
TEST(Verdict, CrashesAreNamed) {
  expect_failure(verdict_on(crashes), Check::guard, "touched address");
}
TEST(Verdict, IllegalInstructionsAreNamed) {
  expect_failure(verdict_on(illegal), Check::guard, "SIGILL");
}

TEST(Verdict, EveryAlignmentIsTried) {
  const Checks checks = Checks::parse("classes,bound,guard");
  expect_failure(verdict_on(wants_alignment, {{"n", std::int64_t{37}}}, "gauss", checks), Check::guard, "other bits when placed");
}

TEST(Verdict, ACaseThatZerosWouldPassIsMistrusted) {
  on_trial = right;
  TestCase test = generated_test_case(kTrial, {{{"n", std::int64_t{8}}}, "zeros", 1});
  test.tags.clear();
  EXPECT_EQ(verdict_of({kTrial, test, nullptr}, Checks::all()).verdict, Verdict::mistrusted);
  test.tags = {"trivial"};
  const CaseResult result = verdict_of({kTrial, test, nullptr}, Checks::all());
  EXPECT_EQ(result.verdict, Verdict::pass);
  EXPECT_TRUE(result.trivial);
}

TEST(Verdict, DriftInsideTheBoundIsNamedAsThat) {
  const TemporaryFolder folder;
  Ledger ledger(folder.path() / "ledger.json");
  const Checks checks = Checks::parse("classes,bound,ledger");
  const auto verdict = [&](KernelFn kernel) { return verdict_on(kernel, {{"n", std::int64_t{5}}}, "gauss", checks, &ledger); };
  const CaseResult before = verdict(right);
  EXPECT_FALSE(before.in_ledger);
  const auto accept = [&](double margin) {
    ledger.accept("trial", {{before.case_name, before.digest}}, {{before.case_name, margin}}, "a person", "2026-01-01", "first");
  };
  accept(before.margin);
  EXPECT_EQ(verdict(right).verdict, Verdict::pass);
  EXPECT_TRUE(verdict(right).in_ledger);
  const CaseResult after = verdict(drifts);
  const std::string margins = fmt::format("; margin {:.4g}, then {:.4g}: inside the bound.", after.margin, before.margin);
  expect_failure(after, Check::ledger, "drift: digest " + after.digest + ", the ledger has " + before.digest + margins);
  EXPECT_NE(after.failure->message.find("assay ledger accept trial --why"), std::string::npos) << after.failure->message;
  for (const double factor : {0.25, 0.0625, 0.99, 1.01, 4.0}) {
    accept(factor * before.margin);
    expect_failure(verdict(right), Check::ledger, "the same bits have another margin, so truth or bound moved; margin ");
  }
}

}  // namespace
}  // namespace assay::harness_test
