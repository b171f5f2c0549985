// Ops with one buffer, and cuts that move a position and several indices of a tensor: the bench on trial.
#include <gtest/gtest.h>

#include "harness/verdict/check.h"
#include "reference/ops/describe.h"

namespace assay::harness_in_place_test {

// An op for trials: data[2 r] and data[2 r + 1] each get start + r added, in place. start < 0 is refused.
struct CountArgs {
  float* data;
  std::int64_t rows;
  std::int64_t start;
};

namespace {

AssayStatus right(const CountArgs* a) noexcept {
  if (a->start < 0) return ASSAY_OUT_OF_RANGE;
  for (std::int64_t i = 0; i < 2 * a->rows; ++i) a->data[i] += static_cast<float>(a->start + (i >> 1));
  return ASSAY_OK;
}
AssayStatus writes_and_refuses(const CountArgs* a) noexcept {
  if (a->start < 0 && a->rows > 0) a->data[0] += 1;
  return right(a);
}
AssayStatus writes_past(const CountArgs* a) noexcept {
  volatile float* data = a->data;
  if (a->start >= 0) data[2 * a->rows] = 1;
  return right(a);
}
// Where a page ends it does not: no guard page tells.
AssayStatus writes_past_within_a_page(const CountArgs* a) noexcept {
  volatile float* const end = a->data + 2 * a->rows;
  if (a->start >= 0 && reinterpret_cast<std::uintptr_t>(end) % guard_page_bytes() != 0) *end = 1;
  return right(a);
}
AssayStatus drops_the_last(const CountArgs* a) noexcept {
  const CountArgs fewer{a->data, a->rows - 1, a->start};
  return right(&fewer);
}

using KernelFn = AssayStatus (*)(const CountArgs*) noexcept;
KernelFn on_trial = right;

AssayStatus count_avx2(const void* a) noexcept {
  return on_trial(static_cast<const CountArgs*>(a));
}
AssayStatus count_scalar(const void* a) noexcept {
  return right(static_cast<const CountArgs*>(a));
}

constexpr reference::Contract kCountContract{"all", reference::Exactness::exact, "bits equal", reference::BiasUnit::none};

void count_reference(const Op&, const CountArgs& a, std::span<reference::Expected> outputs) {
  for (std::int64_t i = 0; i < 2 * a.rows; ++i) {
    const float sum = a.data[i] + static_cast<float>(a.start + (i >> 1));
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&sum);
    outputs[0].bytes.insert(outputs[0].bytes.end(), bytes, bytes + sizeof sum);
  }
}

std::vector<TensorSizes> count_sizes(const Op&, const CountArgs& a) {
  return {TensorSizes{{a.rows, 2}}};
}
std::vector<TensorSpec> count_outputs(const Op&, const CountArgs& a) {
  TensorSpec after = in_place(output("data", DType::f32, {2 * a.rows}), {"data"});
  after.in_place_only = true;
  return {after};
}
Signature count_signature(const Op& op, const Params&, const CountArgs& a) {
  return call_of({input("data", DType::f32, {2 * a.rows})}, count_outputs(op, a),
                 {{"rows", 1, {{"data", 0, 1, 2}}, {}, {{"start", a.start}}}});
}
AssayStatus count_refusal(const Op&, const CountArgs& a) {
  return a.start < 0 ? ASSAY_OUT_OF_RANGE : ASSAY_OK;
}
Cost no_cost(const Op&, const Params&, const void*) {
  return {};
}
ShapeSpace count_shapes(const Op&) {
  return {{{"rows", 9, 40}, {"start", 7, 90, 1, nullptr, true}}, {}};
}
std::vector<Params> no_bench(const Op&) {
  return {};
}

constexpr Field kFields[] = {{"data", offsetof(CountArgs, data), FieldKind::tensor},
                             {"rows", offsetof(CountArgs, rows), FieldKind::size},
                             {"start", offsetof(CountArgs, start), FieldKind::number, constant<0>}};
constexpr Family kFamily{.name = "count",
                         .args = "CountArgs",
                         .header = "tests/harness_in_place_test.cc",
                         .args_bytes = sizeof(CountArgs),
                         .fields = kFields,
                         .sizes = erased<count_sizes>,
                         .signature = erased<count_signature>,
                         .outputs = erased<count_outputs>,
                         .refusal = erased<count_refusal>,
                         .reference = erased<count_reference>,
                         .cost = no_cost,
                         .shapes = count_shapes,
                         .bench_params = no_bench};
constexpr AnyKernel kKernels[] = {{"count_avx2", Isa::avx2, count_avx2}, {"count_scalar", Isa::scalar, count_scalar}};
constexpr OpTable kTable{"count", sizeof(CountArgs), kKernels};
constexpr Op kCount{"count", &kFamily, &kTable, &kCountContract};

CaseResult verdict_on(KernelFn kernel, std::int64_t start) {
  on_trial = kernel;
  const Params shape{{"rows", std::int64_t{9}}, {"start", start}};
  CaseCheck check(kCount, generated_test_case(kCount, {shape, "gauss", 4}), nullptr);
  return check.check(variants_of(kCount).front(), Checks::all());
}

void expect_failure(const CaseResult& result, Check check, const std::string& words) {
  ASSERT_EQ(result.verdict, Verdict::fail);
  EXPECT_EQ(check_name(result.failure->check), check_name(check)) << result.failure->message;
  EXPECT_NE(result.failure->message.find(words), std::string::npos) << result.failure->message;
}

// The cut among two threads gives the whole call's bits only if each part is told its own start and half of the elements.
TEST(InPlaceOnly, ARightKernelPassesWholeAndCut) {
  const CaseResult result = verdict_on(right, 5);
  EXPECT_EQ(result.verdict, Verdict::pass) << (result.failure ? result.failure->message : "");
  EXPECT_EQ(result.compared, 18);
}
TEST(InPlaceOnly, ARefusedCallMustKeepItsBuffer) {
  EXPECT_EQ(verdict_on(right, -1).verdict, Verdict::pass);
  expect_failure(verdict_on(writes_and_refuses, -1), Check::exact, "refused the call, but wrote to its output");
}
TEST(InPlaceOnly, WritingPastTheBufferIsNamed) {
  expect_failure(verdict_on(writes_past, 5), Check::guard, "bytes past the end of data (guard page)");
}
TEST(InPlaceOnly, WritingPastTheBufferIsNamedWithoutAGuardPage) {
  expect_failure(verdict_on(writes_past_within_a_page, 5), Check::guard, "wrote 1 bytes past the end of data, placed");
}
TEST(InPlaceOnly, AMissingElementIsNamed) {
  expect_failure(verdict_on(drops_the_last, 5), Check::exact, "data[16]");
}
// Golden and reference are held to each other by every kernel.
TEST(InPlaceOnly, AGoldenThatSharesTheSlipExcusesNothing) {
  TestCase test = generated_test_case(kCount, {{{"rows", std::int64_t{9}}, {"start", std::int64_t{5}}}, "gauss", 4});
  Kept kept;
  kept.values = test.inputs[0];
  auto* const data = reinterpret_cast<float*>(kept.values.bytes.data());
  for (int i = 0; i < 16; ++i) data[i] += static_cast<float>(5 + (i >> 1));
  test.truth["data"] = kept;
  on_trial = drops_the_last;
  CaseCheck check(kCount, test, nullptr);
  expect_failure(check.check(variants_of(kCount).front(), Checks::all()), Check::exact, "data[16]");
}

TEST(OptionalSize, IsDrawnInSomeCasesAndLeftOutOfOthers) {
  int given = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    given += generated_test_case(kCount, {{}, "gauss", seed}).params.has("start") ? 1 : 0;
  }
  EXPECT_GT(given, 8);
  EXPECT_LT(given, 32);
  EXPECT_FALSE(complete_params(kCount, {{"rows", std::int64_t{3}}}).has("start"));
  EXPECT_TRUE(complete_params(kCount, {{"start", std::int64_t{3}}}).has("start"));
}

}  // namespace
}  // namespace assay::harness_in_place_test
