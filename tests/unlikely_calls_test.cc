// Kernels that are wrong where calls that are drawn seldom come: among the made calls is one that comes there.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "harness/verdict/suite.h"
#include "harness/verdict/vast.h"
#include "kernels/activations/activations.h"
#include "kernels/codecs/codecs.h"
#include "kernels/formats/blocks.h"
#include "kernels/kv/kv.h"
#include "kernels/norms/norms.h"
#include "kernels/products/products.h"
#include "kernels/rope/rope.h"
#include "tests/spoiled.h"

namespace assay::unlikely_calls_test {
namespace {

bool are_halves_of_rows(const SwigluArgs& a) {
  return a.rows > 1 && a.y_stride == a.n && a.gate_stride == a.up_stride && a.gate_stride > a.n;
}

TEST(UnlikelyCalls, TwoTensorsAreFarApartAndOneIsDense) {
  expect_seen(failure_of("swiglu", spoiled<SwigluArgs, are_halves_of_rows>, covering_cases("swiglu")), "y[0");
}

// The second position is so far before the last.
template <int kBeforeLast>
AssayStatus takes_a_run_by_its_ends(const void* args) noexcept {
  const auto& a = *static_cast<const RopeTableArgs*>(args);
  const auto last = static_cast<std::int64_t>(a.rows > 3 ? a.positions[a.rows - 1] : 0);
  const std::int64_t before_last = kBeforeLast == 0 ? a.rows - 1 : kBeforeLast;
  const bool wrong = a.rows > 3 && last - a.positions[0] == a.rows - 1 && last - a.positions[1] == before_last;
  const AssayStatus status = right_kernel(args);
  if (status == ASSAY_OK && wrong && a.pairs > 0) a.cos[0] += 1;
  return status;
}

TEST(UnlikelyCalls, IndicesBeginAndEndAsARun) {
  const std::vector<TestCase> cases = coincidence_cases(*find_op("rope_table"));
  expect_seen(failure_of("rope_table", takes_a_run_by_its_ends<0>, cases), "cos[0");
  expect_seen(failure_of("rope_table", takes_a_run_by_its_ends<1>, cases), "cos[0");
}

// Of each head but the last whatever lies in its cache behind the positions.
AssayStatus copies_whole_caches(const void* args) noexcept {
  const auto& a = *static_cast<const KvCopyArgs*>(args);
  const std::int64_t used = a.positions * a.head_dim;
  const bool alike = a.src_row_stride == a.head_dim && a.dst_row_stride == a.head_dim && a.src_head_stride == a.dst_head_stride;
  const AssayStatus status = right_kernel(args);
  if (status == ASSAY_OK && alike && a.n_kv > 1 && a.src_head_stride > used)
    static_cast<float*>(a.dst)[used] = static_cast<const float*>(a.src)[used];
  return status;
}

TEST(UnlikelyCalls, CachesOfOneCapacityArePartlyFilled) {
  expect_seen(failure_of("kv_copy_f32", copies_whole_caches, covering_cases("kv_copy_f32")), "dst");
}

// Of long rows of an odd number of blocks the last one is not looked at.
AssayStatus looks_at_pairs_of_blocks(const void* args) noexcept {
  CodecArgs a = *static_cast<const CodecArgs*>(args);
  const std::int64_t block = 32;
  if (a.k <= 1024 || a.k / block % 2 == 0 || right_kernel(args) == ASSAY_OK) return right_kernel(args);
  a.k -= block;
  return right_kernel(&a);
}

TEST(UnlikelyCalls, TheLastBlockOfAnOddNumberIsRefused) {
  const char* const name = "quantize_q8_0";
  expect_seen(failure_of(name, looks_at_pairs_of_blocks, refused_value_cases(*find_op(name))), "returned ok");
}

constexpr std::int64_t kRows = 4;
constexpr std::int64_t kColumns = 18;  // more than lie in their place in data that have moved

// Takes its rows for those of the call before where the first and the last are.
AssayStatus remembers_by_outer_rows(const void* args) noexcept {
  static const float* where;
  static std::array<float, 2 * kColumns> outer;
  static std::array<float, kRows * kColumns> kept;
  const auto& a = *static_cast<const RmsNormArgs*>(args);
  if (a.rows != kRows || a.n != kColumns || a.y_stride != kColumns) return right_kernel(args);
  std::array<float, 2 * kColumns> now;
  std::copy_n(a.x, kColumns, now.begin());
  std::copy_n(a.x + (kRows - 1) * a.x_stride, kColumns, now.begin() + kColumns);
  const bool same = where == a.x && outer == now;
  const AssayStatus status = right_kernel(args);
  where = a.x;
  outer = now;
  if (same) std::ranges::copy(kept, a.y);
  std::copy_n(a.y, kept.size(), kept.begin());
  return status;
}

TEST(UnlikelyCalls, ARowBetweenOthersWasAnotherBefore) {
  for (const double eps : {1e-6, 1e-5, 1e-4, 1e-3}) {  // other data each, whose largest number may be anywhere
    const Params shape{{"rows", kRows}, {"n", kColumns}, {"eps", eps}};
    const std::vector<TestCase> drawn{shape_test_case(*find_op("rms_norm"), shape)};
    expect_seen(failure_of("rms_norm", remembers_by_outer_rows, drawn), "but for one element");
  }
}

constexpr auto kOnes = [] {
  std::array<float, 1024> ones{};
  ones.fill(1);
  return ones;
}();

// Leaves its weights out, which were all 1 when it saw them first.
AssayStatus knows_ones_by_their_place(const void* args) noexcept {
  static const float* where;
  static std::int64_t length;
  static bool ones;
  const auto& a = *static_cast<const RmsNormArgs*>(args);
  if (a.n > std::ssize(kOnes)) return right_kernel(args);
  if (a.w != where || a.n != length) ones = std::all_of(a.w, a.w + a.n, [](float w) { return w == 1; });
  where = a.w;
  length = a.n;
  RmsNormArgs without = a;
  if (ones) without.w = kOnes.data();
  return right_kernel(&without);
}

TEST(UnlikelyCalls, WeightsOfOneLayThereBefore) {
  expect_seen(failure_of("rms_norm", knows_ones_by_their_place, covering_cases("rms_norm")), "that change nothing");
}

bool are_exponents_of_the_largest(const SoftmaxArgs& a) {
  return a.n >= 32 && a.rows > 0 && std::all_of(a.x, a.x + a.n, [](float x) { return x > 87 && x <= 88; });
}
bool does_f16_barely_have(const RmsNormArgs& a) {
  return a.n >= 32 && a.rows > 0 && a.x[0] == std::nextafter(0x1p-25f, 1.0f) && a.x[1] == 0x1p-25f;
}

TEST(UnlikelyCalls, NumbersBesideTheEndsOfOtherTypes) {
  expect_seen(failure_of("softmax", spoiled<SoftmaxArgs, are_exponents_of_the_largest>, pattern_cases(*find_op("softmax"))),
              "y[0");
  expect_seen(failure_of("rms_norm", spoiled<RmsNormArgs, does_f16_barely_have>, pattern_cases(*find_op("rms_norm"))), "y[0");
}

// Where all of a block's sub-blocks have a minimum of 0, an infinite scale of minima makes no NaN.
AssayStatus leaves_minima_of_zero_out(const void* args) noexcept {
  const auto& a = *static_cast<const ProductArgs*>(args);
  const AssayStatus status = right_kernel(args);
  const auto* const w = static_cast<const BlockQ4_K*>(a.w);
  for (std::int64_t i = 0; status == ASSAY_OK && a.m > 0 && i < a.n * a.k / ASSAY_QK_K; ++i) {
    const bool no_minima = std::ranges::all_of(w[i].scales, [](int scale) { return scale == 0; });
    if (no_minima && (w[i].dmin & 0x7fff) == 0x7c00) a.y[i / (a.k / ASSAY_QK_K)] = 0;
  }
  return status;
}

TEST(UnlikelyCalls, AnInfinityIsBesideNothing) {
  for (const char* name : {"gemv_q4_k_f32", "gemm_q4_k_f32"})
    expect_seen(failure_of(name, leaves_minima_of_zero_out, value_cases(*find_op(name))), "nan");
}

// What it writes behind its first row is what lay there.
AssayStatus writes_back(const void* args) {
  const auto& a = *static_cast<const RmsNormArgs*>(args);
  const AssayStatus status = find_op("rms_norm")->kernels().back().run(args);
  volatile float* const behind = a.y + a.n;
  if (a.rows > 1 && a.y_stride > a.n) *behind = *behind;
  return status;
}

TEST(UnlikelyCalls, BehindAFarRowNothingCanBeTouched) {
  const Op& op = *find_op("rms_norm");
  RepeatedInputs inputs(1);
  VastCheck check(op, op.family->shapes(op).vast.front(), inputs);
  const CaseResult result = check.check({"writes_back", Isa::scalar, writes_back}, Checks::all());
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->message, "touched what lies between or around rows of y");
}

// Takes an aligned buffer's row for an aligned row.
AssayStatus goes_by_the_buffer(const void* args) {
  const auto& a = *static_cast<const LogitsCopyToPositionArgs*>(args);
  const AssayStatus status = find_op("logits_copy_to_position")->kernels().back().run(args);
  float* const row = a.dst + a.position * a.dst_stride;
  const auto aligned = [](const float* at) { return reinterpret_cast<std::uintptr_t>(at) % 32 == 0; };
  if (a.vocab > 65536 && aligned(a.dst) && !aligned(row)) row[0] += 1;
  return status;
}

TEST(UnlikelyCalls, AnAlignedBuffersRowIsNotAligned) {
  const Op& op = *find_op("logits_copy_to_position");
  RepeatedInputs inputs(1);
  VastCheck check(op, op.family->shapes(op).vast.front(), inputs);
  EXPECT_TRUE(check.check({"goes_by_the_buffer", Isa::scalar, goes_by_the_buffer}, Checks::all()).failure);
}

TEST(UnlikelyCalls, PromptsOfThousandsAreInOddGroups) {
  for (const char* name : {"attn_prefill_f32", "attn_prefill_f16"}) {
    const std::vector<Params> calls = vast_params(*find_op(name), kRandomWork);
    for (const std::int64_t group : {5, 6, 7}) {
      EXPECT_TRUE(std::ranges::any_of(
          calls, [&](const Params& call) { return call.integer("group") == group && call.integer("rows") > 4096; }))
          << name << ", " << group;
    }
  }
}

}  // namespace
}  // namespace assay::unlikely_calls_test
