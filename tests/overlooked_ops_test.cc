// What a bench is apt to overlook in ops as they are: how callers cut them, a NaN's payload, a block's scale, rows longer than the bias case's.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "harness/verdict/check.h"
#include "harness/verdict/placements.h"
#include "harness/verdict/suite.h"
#include "kernels/codecs/codecs.h"
#include "kernels/conversions/conversions.h"
#include "kernels/norms/norms.h"

namespace assay::overlooked_ops_test {
namespace {

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
    a.y[i / a.n * a.y_stride + i % a.n] *= 1 + static_cast<float>(a.n) / 96 * 0x1p-24F;
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

// A row is read on into the gap behind it, and a number there counts; a NaN does not.
AssayStatus counts_numbers_in_gaps(const void* args) noexcept {
  const auto& a = *static_cast<const RmsNormArgs*>(args);
  const AssayStatus status = find_op("rms_norm")->kernels().back().run(args);
  if (status == ASSAY_OK && a.rows > 1 && a.x_stride > a.n && !std::isnan(a.x[a.n])) a.y[0] += 1;
  return status;
}

TEST(Overlooked, GapsHoldNumbersToo) {
  const Op& op = require_op("rms_norm");
  const Params padded{{"rows", 3}, {"n", 9}, {"x_stride", 12}, {"y_stride", 9}, {"eps", 1e-6}};
  CaseCheck check(op, generated_test_case(op, {padded, "gauss", 1}), nullptr);
  EXPECT_FALSE(check.check(variants_of(op).back(), Checks::all()).failure);
  EXPECT_TRUE(check.check(Variant{"planted", Isa::scalar, counts_numbers_in_gaps}, Checks::all()).failure);
}

}  // namespace
}  // namespace assay::overlooked_ops_test
