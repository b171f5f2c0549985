// Kernels that go wrong only where tensors share memory, where a cache lies otherwise or inputs hold what is rare, or that read what no query
// sees.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "harness/verdict/coverage.h"
#include "kernels/activations/activations.h"
#include "kernels/attention/attention.h"
#include "kernels/lookups/lookups.h"
#include "kernels/norms/norms.h"
#include "kernels/products/products.h"
#include "kernels/rope/rope.h"
#include "tests/spoiled.h"

namespace assay::sharing_test {
namespace {

TEST(Sharing, AnOutputLiesOnEachOfItsAliases) {
  expect_seen(failure_of("add", spoiled<AddArgs, [](const AddArgs& a) { return a.y == a.b; }>, made("add", {{"n", 40}})),
              "y in place of b");
  const auto over_up = [](const SwigluArgs& a) { return a.y == a.up && a.up_stride > a.n; };
  const Params padded{{"rows", 2}, {"n", 9}, {"up_stride", 12}, {"y_stride", 12}};
  expect_seen(failure_of("swiglu", spoiled<SwigluArgs, over_up>, made("swiglu", padded)), "y in place of up");
}

TEST(Sharing, InputsThatHoldTheSameLieInOneMemory) {
  const auto same = [](const AddArgs& a) { return a.a == a.b && a.n > 0; };
  expect_seen(failure_of("add", spoiled<AddArgs, same>, pattern_cases(*find_op("add"))), "b in the memory of a");
  const auto all_same = [](const AddArgs& a) { return a.a == a.b && a.a == a.y && a.n > 0; };
  expect_seen(failure_of("add", spoiled<AddArgs, all_same>, pattern_cases(*find_op("add"))),
              "b and the output in the memory of a");
  const auto keys_are_values = [](const AttentionArgs& a) { return a.span_count > 0 && a.spans[0].k == a.spans[0].v; };
  expect_seen(failure_of("attn_decode_f32", spoiled<AttentionArgs, keys_are_values>, pattern_cases(*find_op("attn_decode_f32"))),
              "v in the memory of k");
}

// In each order: what begins where another ends, and whoever writes past the one into the other.
TEST(Sharing, TensorsTouch) {
  const auto behind = [](const AddArgs& a) { return a.n > 0 && a.y == a.b + a.n; };
  expect_seen(failure_of("add", spoiled<AddArgs, behind>, made("add", {{"n", 40}})), "one right behind the other");
  const auto before = [](const AddArgs& a) { return a.n > 0 && a.a == a.y + a.n && a.y != a.b; };
  expect_seen(failure_of("add", spoiled<AddArgs, before>, made("add", {{"n", 40}})), "one right behind the other");
}

AssayStatus writes_what_is_behind(const void* args) noexcept {
  const auto& a = *static_cast<const AddArgs*>(args);
  const AssayStatus status = right_kernel(args);
  if (status == ASSAY_OK && a.n > 0 && a.b == a.y + a.n) a.y[a.n] += 1;
  return status;
}
AssayStatus writes_what_is_before(const void* args) noexcept {
  const auto& a = *static_cast<const AddArgs*>(args);
  const AssayStatus status = right_kernel(args);
  if (status == ASSAY_OK && a.n > 0 && a.y == a.a + a.n) a.y[-1] += 1;
  return status;
}

TEST(Sharing, AnInputThatTouchesAnOutputIsNotWritten) {
  expect_seen(failure_of("add", writes_what_is_behind, made("add", {{"n", 40}})), "changed its input b");
  expect_seen(failure_of("add", writes_what_is_before, made("add", {{"n", 40}})), "changed its input a");
}

TEST(Sharing, RowsTakeTurnsInOneMemory) {
  const auto gated = [](const SwigluArgs& a) { return a.rows > 1 && a.up == a.gate + a.n; };
  expect_seen(failure_of("swiglu", spoiled<SwigluArgs, gated>, pattern_cases(*find_op("swiglu"))), "up between the rows of gate");
  const auto row_by_row = [](const AttentionArgs& a) {
    return a.span_count > 0 && a.n_kv > 1 && a.spans[0].k_row_stride == 2 * a.n_kv * a.head_dim &&
           a.spans[0].v == static_cast<const float*>(a.spans[0].k) + a.n_kv * a.head_dim;
  };
  expect_seen(failure_of("attn_decode_f32", spoiled<AttentionArgs, row_by_row>, pattern_cases(*find_op("attn_decode_f32"))),
              "v between the rows of k");
  const auto halves = [](const SwigluArgs& a) { return a.rows > 1 && a.up == a.gate + a.n && a.y == a.gate; };
  expect_seen(failure_of("swiglu", spoiled<SwigluArgs, halves>, pattern_cases(*find_op("swiglu"))),
              "and the output in their place");
  const auto between = [](const RmsNormArgs& a) { return a.rows > 1 && a.y == a.x + a.n; };
  expect_seen(failure_of("rms_norm", spoiled<RmsNormArgs, between>, pattern_cases(*find_op("rms_norm"))),
              "y between the rows of x");
  const auto behind = [](const AddArgs& a) { return a.n > 0 && a.y == a.a && a.b == a.a + a.n; };
  expect_seen(failure_of("add", spoiled<AddArgs, behind>, made("add", {{"n", 40}})), "y in place of a, b right behind it");
}

// As in the rows of a fused projection.
TEST(Sharing, KeysLieBetweenTheRowsOfQueries) {
  const auto fused = [](const AttentionArgs& a) {
    return a.rows > 1 && a.span_count > 0 && a.spans[0].k_row_stride == a.q_row_stride && a.spans[0].k > a.q &&
           a.spans[0].k < a.q + a.q_row_stride;
  };
  const Op& op = *find_op("attn_prefill_f32");
  expect_seen(failure_of(op.name, spoiled<AttentionArgs, fused>, pattern_cases(op)), "k between the rows of q");
}

// As in a latent cache, whose values are a part of the keys.
TEST(Sharing, ValuesBeginInTheRowsOfTheirKeys) {
  const auto within = [](const AttentionArgs& a) {
    return a.span_count > 0 && a.spans[0].v > a.spans[0].k && a.spans[0].v < static_cast<const float*>(a.spans[0].k) + a.head_dim;
  };
  for (const char* const op : {"attn_decode_f32", "attn_prefill_f32"}) {
    EXPECT_EQ(failure_of(op, find_op(op)->kernels().back().run, pattern_cases(*find_op(op))), "") << op;
    expect_seen(failure_of(op, spoiled<AttentionArgs, within>, pattern_cases(*find_op(op))), "v begins in the rows of k");
  }
}

// What is not looked at where it adds nothing.
AssayStatus skips_zeros(const void* args) noexcept {
  const auto& a = *static_cast<const ProductArgs*>(args);
  const AssayStatus status = right_kernel(args);
  for (std::int64_t i = 0; status == ASSAY_OK && a.k > 0 && i < a.n; ++i) {
    const auto* const x = static_cast<const float*>(a.x);
    if (std::all_of(x, x + a.k, [](float value) { return value == 0; })) a.y[i] = 0;
  }
  return status;
}

TEST(Sharing, ZerosMeetInfinities) {
  expect_seen(failure_of("gemv_q8_0_f32", skips_zeros, value_cases(*find_op("gemv_q8_0_f32"))), "y[");
}

// Where a key of the second span is NaN, its head is not.
AssayStatus loses_a_nan(const void* args) noexcept {
  const auto& a = *static_cast<const AttentionArgs*>(args);
  const AssayStatus status = right_kernel(args);
  if (status != ASSAY_OK || a.span_count != 1 || a.n_kv < 2 || a.spans[0].count <= 1027) return status;
  const float* const keys = static_cast<const float*>(a.spans[0].k) + a.spans[0].k_head_stride;
  if (std::isnan(keys[1027 * a.spans[0].k_row_stride])) a.y[a.n_heads / a.n_kv * a.y_head_stride] = 0;
  return status;
}

TEST(Sharing, AKeyBehindASpanIsNan) {
  expect_seen(failure_of("attn_decode_f32", loses_a_nan, pattern_cases(*find_op("attn_decode_f32"))), "y[");
}

TEST(Sharing, ScoresOfABlockBehindASpanAreAllMasked) {
  constexpr std::int64_t kSpan = 1024;
  const auto masked = [](const AttentionArgs& a) {
    if (a.span_count != 1 || a.spans[0].count <= kSpan) return false;
    const float* const k = static_cast<const float*>(a.spans[0].k) + kSpan * a.spans[0].k_row_stride;
    return std::isinf(k[0]) && std::isinf(k[15 * a.spans[0].k_row_stride]) && std::isfinite(k[16 * a.spans[0].k_row_stride]);
  };
  for (const char* const op : {"attn_decode_f32", "attn_prefill_f32"})
    expect_seen(failure_of(op, spoiled<AttentionArgs, masked>, pattern_cases(*find_op(op))), "y[0");
}

// Wrong while a call of another row length runs, which no cut of one call has.
std::atomic<std::int64_t> length;
AssayStatus shares_a_length(const void* args) noexcept {
  const auto& a = *static_cast<const SoftmaxArgs*>(args);
  length = a.n;
  const AssayStatus status = right_kernel(args);
  // So long, and giving way, that on a busy machine too the other gets its turn.
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(8);
  while (length == a.n && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  if (status == ASSAY_OK && a.n > 0 && a.rows > 0 && length != a.n) a.y[0] += 1;
  return status;
}

TEST(Sharing, CallsOfOtherSizesRunAtTheSameTime) {
  const Op& op = *find_op("softmax");
  right_kernel = op.kernels().back().run;
  InProcess executor(shares_a_length);
  CaseCheck check(op, made("softmax", {{"rows", 16}, {"n", 500}}).front(), nullptr);
  const CaseResult result = check.check({.name = "shared", .selection = "", .executor = &executor}, Checks::all(), true);
  ASSERT_TRUE(result.failure);
  expect_seen(result.failure->message, "every second with");
}

TEST(Sharing, OneAngleForAllRows) {
  const auto one = [](const RopeArgs& a) { return a.table_stride == 0 && a.rows > 1; };
  const Params shared{{"rows", 3}, {"heads", 2}, {"head_dim", 8}, {"pairing", std::string("split")}, {"table_stride", 0}};
  EXPECT_EQ(failure_of("rope", find_op("rope")->kernels().back().run, made("rope", shared)), "");
  expect_seen(failure_of("rope", spoiled<RopeArgs, one>, made("rope", shared)), "y[0");
}

// The key behind the last query is read, or the one before the window, and nothing is done with it.
template <std::int64_t kFrom>
AssayStatus reads_unseen(const void* args) noexcept {
  const auto& a = *static_cast<const AttentionArgs*>(args);
  const std::int64_t position = kFrom < 0 ? a.position - a.window : a.position + a.rows;
  if (a.n_heads > 0 && a.span_count == 1 && position >= a.spans[0].first && position < a.spans[0].first + a.spans[0].count) {
    const volatile float* const row =
        static_cast<const float*>(a.spans[0].k) + (position - a.spans[0].first) * a.spans[0].k_row_stride;
    static_cast<void>(*row);
  }
  return right_kernel(args);
}

TEST(Sharing, WhatNoQuerySeesCannotBeRead) {
  for (const char* const op : {"attn_decode_f32", "attn_prefill_f32"}) {
    Params seen{{"n_kv", 2},   {"group", 2},    {"head_dim", 8},      {"length", 40},       {"window", 9},   {"position", 20},
                {"causal", 1}, {"scale", 0.25}, {"k_head_stride", 8}, {"v_head_stride", 8}, {"only_seen", 1}};
    if (std::string_view(op) == "attn_prefill_f32") seen.set("rows", std::int64_t{3});
    EXPECT_EQ(failure_of(op, find_op(op)->kernels().back().run, made(op, seen)), "") << op;
    expect_seen(failure_of(op, reads_unseen<1>, made(op, seen)), "past the end of k (guard page)");
    expect_seen(failure_of(op, reads_unseen<-1>, made(op, seen)), "before the start of k (guard page)");
    seen.set("only_seen", std::int64_t{0});
    EXPECT_EQ(failure_of(op, reads_unseen<1>, made(op, seen)), "") << op;
  }
}

// Spans whose positions and heads lie the other way round.
TEST(Sharing, SpansOfAViewLieDifferently) {
  const auto differ = [](const AttentionArgs& a) {
    return a.span_count > 1 && a.spans[0].k_row_stride != a.spans[1].k_row_stride;
  };
  const Params turned{{"n_kv", 16},  {"group", 1},    {"head_dim", 8}, {"length", 40},
                      {"causal", 1}, {"scale", 0.25}, {"turned", 1},   {"span_positions", 16}};
  EXPECT_EQ(failure_of("attn_decode_f16", find_op("attn_decode_f16")->kernels().back().run, made("attn_decode_f16", turned)), "");
  expect_seen(failure_of("attn_decode_f16", spoiled<AttentionArgs, differ>, made("attn_decode_f16", turned)), "y[0");
}

// Some case that every op's drawn ones have.
bool some_view(bool (*wanted)(const AttentionArgs& a)) {
  const Op& op = *find_op("attn_decode_f32");
  return std::ranges::any_of(covering_params(op), [&](const Params& params) {
    const std::vector<void*> nowhere(signature_of(op, params).tensors.size());
    return wanted(*static_cast<const AttentionArgs*>(Arguments(op, params, nowhere).data()));
  });
}

TEST(Sharing, SpansOfAViewAreOfOtherLengthsAndLieApart) {
  const auto uneven = [](const AttentionArgs& a) {
    return a.span_count > 2 && a.spans[0].count != a.spans[1].count && a.spans[0].k_head_stride != a.spans[1].k_head_stride &&
           a.spans[0].k_row_stride == a.spans[1].k_row_stride;
  };
  const auto values_elsewhere = [](const AttentionArgs& a) {
    const auto apart = [](const void* one, const void* other) {
      return static_cast<const char*>(one) - static_cast<const char*>(other);
    };
    const auto lies_otherwise = [&](const AssayKvSpan& span) {
      return apart(span.k, a.spans[0].k) != apart(span.v, a.spans[0].v);
    };
    return a.span_count > 2 && a.spans[0].k_row_stride == a.spans[0].v_row_stride &&
           std::any_of(a.spans, a.spans + a.span_count, lies_otherwise);
  };
  EXPECT_TRUE(some_view(uneven));
  EXPECT_TRUE(some_view(values_elsewhere));
  const Params params{{"n_kv", 2},     {"group", 1},  {"head_dim", 8},     {"length", 101},       {"causal", 1},
                      {"scale", 0.25}, {"uneven", 1}, {"v_slot_shift", 2}, {"span_positions", 48}};
  for (const char* const op : {"attn_decode_f16", "attn_prefill_f32"}) {
    Params call = params;
    if (std::string_view(op) == "attn_prefill_f32") call.set("rows", std::int64_t{3});
    EXPECT_EQ(failure_of(op, find_op(op)->kernels().back().run, made(op, call)), "") << op;
    expect_seen(failure_of(op, spoiled<AttentionArgs, uneven>, made(op, call)), "y[0");
  }
}

bool all_alike(const EmbedArgs& a) {
  return a.rows > 1 && std::all_of(a.ids, a.ids + a.rows, [&](std::int32_t id) { return id == a.ids[0]; });
}
bool is_cancelled(const AddArgs& a) {
  for (std::int64_t i = 0; i < a.n; ++i) {
    if (std::isnormal(a.a[i]) && std::isnormal(a.b[i]) && std::fpclassify(a.a[i] + a.b[i]) == FP_SUBNORMAL) return true;
  }
  return false;
}
bool only_last(const SoftmaxArgs& a) {
  return a.rows > 0 && a.n > 16 && a.x[a.n - 1] != 0 && std::all_of(a.x, a.x + a.n - 1, [](float x) { return x == 0; });
}
AssayStatus one_for_one(const void* args) noexcept {
  const auto& a = *static_cast<const SoftmaxArgs*>(args);
  const AssayStatus status = right_kernel(args);
  for (std::int64_t j = 0; status == ASSAY_OK && a.n == 1 && j < a.rows; ++j) a.y[j * a.y_stride] = 1;
  return status;
}

TEST(Sharing, InputsHoldWhatIsRare) {
  expect_seen(failure_of("embed_f32", spoiled<EmbedArgs, all_alike>, pattern_cases(*find_op("embed_f32"))), "y[0");
  expect_seen(failure_of("add", spoiled<AddArgs, is_cancelled>, pattern_cases(*find_op("add"))), "y[0");
  expect_seen(failure_of("softmax", spoiled<SoftmaxArgs, only_last>, pattern_cases(*find_op("softmax"))), "y[0");
  expect_seen(failure_of("softmax", one_for_one, value_cases(*find_op("softmax"))), "y[");
}

// Dimensions that are copied lose a bit of a NaN where they go through arithmetic.
AssayStatus quiets_what_it_copies(const void* args) noexcept {
  const auto& a = *static_cast<const RopeArgs*>(args);
  const AssayStatus status = right_kernel(args);
  for (std::int64_t d = a.rot_dim; status == ASSAY_OK && a.rows * a.heads > 0 && d < a.head_dim; ++d) {
    const volatile float one = 1;
    a.y[d] = a.y[d] * one;
  }
  return status;
}

TEST(Sharing, ANanThatIsCopiedKeepsItsBits) {
  TestCase test = made("rope", {{"rows", 1}, {"heads", 1}, {"head_dim", 8}, {"rot_dim", 4}}).front();
  EXPECT_EQ(failure_of("rope", quiets_what_it_copies, {test}), "");
  const std::uint32_t signalling = 0x7f800001;
  std::memcpy(&test.inputs[0].bytes[7 * sizeof(float)], &signalling, sizeof signalling);
  EXPECT_EQ(failure_of("rope", find_op("rope")->kernels().back().run, {test}), "");
  expect_seen(failure_of("rope", quiets_what_it_copies, {test}), "7] = 0x7fc00001");
}

}  // namespace
}  // namespace assay::sharing_test
