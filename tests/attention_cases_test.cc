// Attention that is wrong only where a view is seen as few are, or where an infinity decides: the made cases see it without the bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "golden/dtype.h"
#include "harness/verdict/call.h"
#include "harness/verdict/suite.h"
#include "kernels/attention/attention.h"
#include "tests/spoiled.h"

namespace assay::attention_cases_test {
namespace {

constexpr const char* kDecode = "attn_decode_f32";
const Checks kNoBits = Checks::parse("classes,bound,spread,exact");

// The call with other spans.
template <class Change>
AssayStatus with_spans(const void* args, const Change& change) {
  AttentionArgs a = *static_cast<const AttentionArgs*>(args);
  static thread_local std::vector<AssayKvSpan> spans;
  spans.assign(a.spans, a.spans + std::max<std::int64_t>(a.span_count, 0));
  change(spans);
  a.spans = spans.data();
  a.span_count = std::ssize(spans);
  return right_kernel(&a);
}

AssayStatus third_lies_as_the_first(const void* args) noexcept {
  return with_spans(args, [](std::vector<AssayKvSpan>& spans) {
    if (spans.size() == 3) spans[2].k_row_stride = std::min(spans[0].k_row_stride, spans[2].k_row_stride);
  });
}

// As a count of 16 bits would.
AssayStatus keys_begin_again(const void* args) noexcept {
  constexpr std::int64_t kMost = 65536;
  return with_spans(args, [](std::vector<AssayKvSpan>& spans) {
    if (spans.size() != 1 || spans[0].count <= kMost) return;
    AssayKvSpan rest = spans[0];
    rest.first += kMost;
    rest.count -= kMost;
    rest.v = static_cast<const float*>(rest.v) + kMost * rest.v_row_stride;
    spans[0].count = kMost;
    spans.push_back(rest);
  });
}

template <class Change>
AssayStatus with_outputs(const void* args, const Change& change) {
  const auto& a = *static_cast<const AttentionArgs*>(args);
  const AssayStatus status = right_kernel(args);
  for (std::int64_t h = 0; status == ASSAY_OK && h < a.n_heads; ++h) {
    for (std::int64_t d = 0; d < a.head_dim; ++d) change(a.y[h * a.y_head_stride + d]);
  }
  return status;
}

template <int kSign>
AssayStatus infinity_has_one_sign(const void* args) noexcept {
  return with_outputs(args, [](float& y) { y = std::isinf(y) ? kSign * INFINITY : y; });
}

TEST(AttentionCases, SpansThatLieOtherwiseAreSeen) {
  EXPECT_NE(failure_of(kDecode, third_lies_as_the_first, covering_cases(kDecode), kNoBits), "");
}

// Of a long view, so that a key which is lost there is missed.
TEST(AttentionCases, ValuesEndLoudly) {
  constexpr std::int64_t kLength = 2000, kDims = 4, kLoud = 24;
  const TestCase test = shape_test_case(
      *find_op(kDecode), {{"n_kv", 1}, {"group", 1}, {"head_dim", kDims}, {"length", kLength}, {"causal", 1}, {"scale", 0.5}});
  const auto largest = [&](std::int64_t from, std::int64_t to) {
    double most = 0;
    for (std::int64_t i = from * kDims; i < to * kDims; ++i)
      most = std::max(most, std::fabs(element_as_double(DType::f32, &test.inputs[2].bytes[static_cast<std::size_t>(4 * i)])));
    return most;
  };
  EXPECT_GT(largest(kLength - kLoud, kLength), 32 * largest(0, kLength - kLoud));
}

TEST(AttentionCases, KeysPastSixteenBitsCount) {
  EXPECT_NE(failure_of(kDecode, keys_begin_again, covering_cases(kDecode), kNoBits), "");
}

// Where all of a case have one sign, they have the other in its second.
TEST(AttentionCases, InfinitiesHaveEitherSign) {
  std::vector<TestCase> cases = value_cases(*find_op(kDecode));
  std::set<std::string> second;
  for (const TestCase& test : cases) {
    if (test.name.starts_with("other infinities in ")) second.insert(test.name);
  }
  std::erase_if(cases,
                [&](const TestCase& test) { return !second.contains(test.name) && !second.contains("other " + test.name); });
  EXPECT_NE(failure_of(kDecode, infinity_has_one_sign<1>, cases, kNoBits), "");
  EXPECT_NE(failure_of(kDecode, infinity_has_one_sign<-1>, cases, kNoBits), "");
}

// Spans follow on one another, and each but the last ends a block.
TEST(AttentionCases, ViewsWithHolesAreRefused) {
  const Op& op = *find_op(kDecode);
  const auto status = [&](std::int64_t first_count, std::int64_t second_first) {
    const AssayKvSpan spans[] = {{nullptr, nullptr, 0, first_count, 0, 8, 0, 8}, {nullptr, nullptr, second_first, 5, 0, 8, 0, 8}};
    AttentionArgs args{};
    args.spans = spans;
    args.span_count = 2;
    args.rows = args.n_heads = args.n_kv = 1;
    args.head_dim = args.q_row_stride = args.q_head_stride = args.y_row_stride = args.y_head_stride = 8;
    args.position = 40;
    args.scale = 1;
    return op.family->refusal(op, &args);
  };
  EXPECT_EQ(status(16, 16), ASSAY_OK);
  EXPECT_EQ(status(17, 17), ASSAY_BAD_SHAPE);
  EXPECT_EQ(status(16, 32), ASSAY_BAD_SHAPE);
  EXPECT_EQ(status(17, 32), ASSAY_BAD_SHAPE);
}

// The window begins behind a first span that is shorter than the next: a span is not found by the length of the first.
bool begins_behind_a_short_span(const AttentionArgs& a) {
  return a.span_count > 2 && a.spans[0].count < a.spans[1].count && a.window > 0 && a.position - a.window + 1 > a.spans[1].first;
}

// A query behind all keys sees the last of them through a window, in pages.
bool lies_past_its_pages(const AttentionArgs& a) {
  if (a.span_count < 3 || a.spans[0].count != 3 * ASSAY_KV_BLOCK || a.window != 290) return false;
  const AssayKvSpan& last = a.spans[a.span_count - 1];
  return a.position >= last.first + last.count;
}

// Of many queries, whose dimensions are no whole vectors.
bool is_a_chunk_of_odd_heads(const AttentionArgs& a) {
  return a.head_dim > 64 && a.head_dim < 80 && a.n_kv > 0 && a.rows * a.n_heads / a.n_kv > 112;
}

TEST(AttentionCases, ViewsThatAreSeldomAreSeen) {
  expect_seen(failure_of(kDecode, spoiled<AttentionArgs, begins_behind_a_short_span>, covering_cases(kDecode), kNoBits),
              "y[0, 0]");
  expect_seen(failure_of(kDecode, spoiled<AttentionArgs, lies_past_its_pages>, covering_cases(kDecode), kNoBits), "y[0, 0]");
  constexpr const char* kPrefill = "attn_prefill_f32";
  expect_seen(failure_of(kPrefill, spoiled<AttentionArgs, is_a_chunk_of_odd_heads>, covering_cases(kPrefill), kNoBits),
              "y[0, 0, 0]");
}

// A value of the first of two spans of 1,024 keys and less is infinite, and its key as the others are.
bool has_an_infinity_with_weight(const AttentionArgs& a) {
  constexpr std::int64_t kKey = 17;
  if (a.span_count != 1 || a.spans[0].count <= 1024 || a.head_dim < 2) return false;
  const auto* const k = static_cast<const float*>(a.spans[0].k) + kKey * a.spans[0].k_row_stride;
  const auto* const v = static_cast<const float*>(a.spans[0].v) + kKey * a.spans[0].v_row_stride;
  return std::fabs(k[0]) < 100 && std::isinf(v[1]);
}

TEST(AttentionCases, AnInfinityOfAFirstSpanHasAWeight) {
  for (const char* name : {kDecode, "attn_prefill_f32"}) {
    const std::vector<TestCase> cases = pattern_cases(*find_op(name));
    expect_seen(failure_of(name, spoiled<AttentionArgs, has_an_infinity_with_weight>, cases, kNoBits), "y[0");
  }
}

// The first head's score of a key overflows, and it counts; or it counts as masked for the second head too.
template <class Key, int kWrong>
AssayStatus wrong_where_a_score_overflows(const void* args) noexcept {
  constexpr std::int64_t kKey = 3;
  const auto& a = *static_cast<const AttentionArgs*>(args);
  const AssayStatus status = right_kernel(args);
  if (status != ASSAY_OK || a.n_heads <= a.n_kv || a.spans[0].count <= kKey) return status;
  const float* const q = a.q;
  const auto* const k = static_cast<const Key*>(a.spans[0].k) + kKey * a.spans[0].k_row_stride;
  const double score = static_cast<double>(q[0]) * element_as_double(std::is_same_v<Key, float> ? DType::f32 : DType::f16, k);
  if (score * a.scale < -FLT_MAX && q[a.q_head_stride] == 0) a.y[kWrong * a.y_head_stride] += 1;
  return status;
}

TEST(AttentionCases, AScoreOfOneHeadOverflows) {
  const auto look = [](const char* name, Kernel kernel) {
    EXPECT_NE(failure_of(name, kernel, pattern_cases(*find_op(name)), kNoBits), "");
  };
  look(kDecode, wrong_where_a_score_overflows<float, 0>);
  look(kDecode, wrong_where_a_score_overflows<float, 1>);
  look("attn_prefill_f32", wrong_where_a_score_overflows<float, 0>);
  look("attn_prefill_f32", wrong_where_a_score_overflows<float, 1>);
  look("attn_decode_f16", wrong_where_a_score_overflows<std::uint16_t, 0>);
  look("attn_decode_f16", wrong_where_a_score_overflows<std::uint16_t, 1>);
}

// Where an infinite value has a weight that is lost, 0 inf is NaN.
TEST(AttentionCases, InfinitiesMeetWeightsThatAreLost) {
  for (const char* name : {kDecode, "attn_decode_f16", "attn_prefill_f16", "attn_prefill_f32"}) {
    const Op& op = *find_op(name);
    const std::vector<TestCase> cases = value_cases(op);
    const auto meet = [&](const std::string& kind) {
      return std::ranges::any_of(cases, [&](const TestCase& test) {
        if (test.status != ASSAY_OK || !test.name.starts_with(kind)) return false;
        Call call(op, test.params, test.inputs);
        call.place(call.placements().front());
        const auto marks = reference_outputs(op, test.params, call.pointers()).front().bits_only;
        return std::ranges::count(marks, reference::kNotFinite) > 0;
      });
    };
    EXPECT_TRUE(meet("spans without weight")) << name;
    const Params scattered = complete_params(op, op.family->shapes(op).exceptional.front());
    EXPECT_TRUE(meet("infinities in v, " + scattered.to_string())) << name;
  }
}

}  // namespace
}  // namespace assay::attention_cases_test
