// What references say beside the truth: bounds of what must be a zero, and outputs that are left to the bits, no more of them than need be.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/verdict/call.h"
#include "harness/verdict/cases.h"
#include "harness/verdict/suite.h"

namespace assay::reference_marks_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

float* floats(Array& array) {
  return reinterpret_cast<float*>(array.bytes.data());
}

// The expectation for inputs that are all zeros but those named, filled with one number.
reference::Expected expected(const char* name, const Params& shape, const std::map<std::string, float>& filled = {}) {
  const Op& op = require_op(name);
  TestCase test = generated_test_case(op, {shape, "zeros", 1});
  const Signature signature = signature_of(op, test.params);
  for (std::size_t i = 0; i < test.inputs.size(); ++i) {
    const auto value = filled.find(signature.tensors[i].name);
    if (value != filled.end()) std::fill_n(floats(test.inputs[i]), test.inputs[i].elements(), value->second);
  }
  Call call(op, test.params, test.inputs);
  call.place(call.placements().front());
  return reference_outputs(op, test.params, call.pointers()).front();
}

bool all_zero(const std::vector<double>& values) {
  return !values.empty() && std::ranges::all_of(values, [](double value) { return value == 0; });
}

const Params kRows{{"rows", std::int64_t{2}}, {"n", std::int64_t{40}}};
const Params kDecode{
    {"n_kv", std::int64_t{2}}, {"group", std::int64_t{2}}, {"head_dim", std::int64_t{32}}, {"length", std::int64_t{20}}};

TEST(Marks, AZeroThatMustBeOneHasNoBound) {
  const std::pair<const char*, Params> ops[] = {{"linear_q4_k", {}},          {"gemm_f16", {}}, {"matvec_f32", {}},
                                                {"rms_norm", kRows},          {"rope", {}},     {"attn_decode_f32", kDecode},
                                                {"attn_prefill_f32", kDecode}};
  for (const auto& [op, shape] : ops) {
    const reference::Expected zeros = expected(op, shape);
    EXPECT_TRUE(all_zero(zeros.value)) << op;
    EXPECT_TRUE(all_zero(zeros.bound)) << op;
  }
  const reference::Expected one = expected("rms_norm", kRows, {{"w", 1}});
  EXPECT_TRUE(all_zero(one.bound));
}

// e^-inf is a zero, whatever the others are.
TEST(Marks, WhatSoftmaxMasksHasNoBound) {
  const Op& op = require_op("softmax");
  TestCase test = generated_test_case(op, {kRows, "gauss", 1});
  floats(test.inputs[0])[3] = -kInf;
  Call call(op, test.params, test.inputs);
  call.place(call.placements().front());
  const reference::Expected y = reference_outputs(op, test.params, call.pointers()).front();
  EXPECT_EQ(y.value[3], 0);
  EXPECT_EQ(y.bound[3], 0);
  EXPECT_GT(y.bound[4], 0);
}

TEST(Marks, OutputsWithABoundAreNotLeftToTheBits) {
  const auto left = [](const reference::Expected& of) {
    return std::ranges::any_of(of.bits_only, [](auto mark) { return mark != 0; });
  };
  EXPECT_FALSE(left(expected("rms_norm", kRows, {{"x", 1}, {"w", kInf}})));
  EXPECT_FALSE(left(expected("swiglu", {}, {{"gate", 1}, {"up", kInf}})));
  EXPECT_FALSE(left(expected("swiglu", {}, {{"gate", -87}, {"up", kInf}})));
  EXPECT_FALSE(left(expected("gemm_f32", {}, {{"x", 1}, {"w", kInf}})));
}

// A query's scores are NaN, or +inf: so is what it attends to.
TEST(Marks, ScoresThatAreNoNumbersGiveNaN) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  for (const char* const op : {"attn_decode_f32", "attn_prefill_f32"}) {
    for (const float q : {kNaN, kInf}) {
      const reference::Expected y = expected(op, kDecode, {{"q", q}, {"k", 1}, {"v", 1}});
      EXPECT_TRUE(std::ranges::all_of(y.value, [](double value) { return std::isnan(value); })) << op << " " << q;
      EXPECT_TRUE(std::ranges::all_of(y.bits_only, [](auto mark) { return mark == 0; })) << op << " " << q;
    }
  }
}

// A factor that a float may lose meets an infinity.
TEST(Marks, WhatIsNaNOrInfiniteIsNoNumber) {
  const auto all_are = [](const reference::Expected& of, std::uint8_t mark) {
    return !of.bits_only.empty() && std::ranges::count(of.bits_only, mark) == std::ssize(of.bits_only);
  };
  for (const float lost : {-100.0F, 1e-45F, -1e-45F})
    EXPECT_TRUE(all_are(expected("swiglu", {}, {{"gate", lost}, {"up", kInf}}), reference::kNotFinite)) << lost;
  Params halved = kRows;
  halved.set("eps", 4.0);
  EXPECT_TRUE(all_are(expected("rms_norm", halved, {{"x", 1e-45F}, {"w", kInf}}), reference::kNotFinite));
  EXPECT_TRUE(all_are(expected("rms_norm", kRows, {{"x", 1e20F}, {"w", kInf}}), 1));
}

}  // namespace
}  // namespace assay::reference_marks_test
