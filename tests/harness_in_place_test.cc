// Ops with one buffer, and cuts that move a position and several indices of a tensor: the bench on trial.
#include <gtest/gtest.h>

#include "harness/verdict/check.h"
#include "harness/verdict/ops/bind.h"

namespace assay {

// An op for trials: data[2 r] and data[2 r + 1] each get start + r added, in place. start < 0 is refused.
struct CountArgs {
  float* data;
  std::int64_t rows;
  std::int64_t start;
};

struct Count {
  using Args = CountArgs;
  static constexpr const char* name = "count";
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
AssayStatus drops_the_last(const CountArgs* a) noexcept {
  const CountArgs fewer{a->data, a->rows - 1, a->start};
  return right(&fewer);
}

KernelFn<Count> on_trial = right;

AssayStatus count_avx2(const CountArgs* a) noexcept {
  return on_trial(a);
}

}  // namespace

template <>
std::span<const Kernel<Count>> kernels<Count>() noexcept {
  static constexpr Kernel<Count> table[] = {{"count_avx2", Isa::avx2, count_avx2}, {"count_scalar", Isa::scalar, right}};
  return table;
}

namespace {

constexpr reference::Contract kCountContract{"all", reference::Exactness::exact, "bits equal", reference::BiasUnit::none};

void count_reference(const CountArgs& a, reference::Expected& data) {
  for (std::int64_t i = 0; i < 2 * a.rows; ++i) {
    const float sum = a.data[i] + static_cast<float>(a.start + (i >> 1));
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&sum);
    data.bytes.insert(data.bytes.end(), bytes, bytes + sizeof sum);
  }
}

class CountAdapter final : public OpAdapter<Count, kCountContract, count_reference> {
 public:
  Signature signature(const Params& params) const override {
    const std::int64_t rows = size_of(params, "rows");
    TensorSpec after = in_place(output("data", DType::f32, {2 * rows}), "data");
    after.in_place_only = true;
    const std::int64_t start = params.integer_or("start", 0);
    return {{input("data", DType::f32, {2 * rows}), after}, {{"rows", 1, {{"data", 0, 1, 2}}, {}, {{"start", start}}}}};
  }
  CountArgs bind(const Params& params, std::span<void* const> tensors) const override {
    return {pointer<float>(tensors, 1), params.integer("rows"), params.integer_or("start", 0)};
  }
  AssayStatus required_status(const Params& params, const std::vector<Array>&) const override {
    return params.integer_or("start", 0) < 0 ? ASSAY_OUT_OF_RANGE : ASSAY_OK;
  }
  ShapeSpace shape_space() const override { return {{{"rows", 9, 40}, {"start", 7, 90, 1, nullptr, true}}, {}}; }
  GeneratedCase bias_case() const override { return {}; }
  Cost cost(const Params&) const override { return {}; }
  std::vector<Params> bench_params() const override { return {}; }
};

const CountAdapter adapter;

CaseResult verdict_on(KernelFn<Count> kernel, std::int64_t start) {
  on_trial = kernel;
  const Params shape{{"rows", std::int64_t{9}}, {"start", start}};
  CaseCheck check(adapter, generated_test_case(adapter, {shape, "gauss", 4}), nullptr);
  return check.check(0, Checks::all());
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
TEST(InPlaceOnly, AMissingElementIsNamed) {
  expect_failure(verdict_on(drops_the_last, 5), Check::exact, "data[16]");
}

TEST(OptionalSize, IsDrawnInSomeCasesAndLeftOutOfOthers) {
  int given = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    given += generated_test_case(adapter, {{}, "gauss", seed}).params.has("start") ? 1 : 0;
  }
  EXPECT_GT(given, 8);
  EXPECT_LT(given, 32);
  EXPECT_FALSE(complete_params(adapter, {{"rows", std::int64_t{3}}}).has("start"));
  EXPECT_TRUE(complete_params(adapter, {{"start", std::int64_t{3}}}).has("start"));
}

}  // namespace
}  // namespace assay
