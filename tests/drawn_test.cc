// Calls that are too long to be computed whole, and those that reach past 2^32 bytes: kernels that are wrong in them are named.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/verdict/call.h"
#include "harness/verdict/cases.h"
#include "harness/verdict/draw.h"
#include "harness/verdict/drawn_case.h"
#include "harness/verdict/suite.h"
#include "harness/verdict/vast.h"
#include "kernels/activations/activations.h"
#include "kernels/norms/norms.h"
#include "kernels/products/products.h"
#include "reference/ops/split.h"
#include "tests/refusals.h"

namespace assay::drawn_test {
namespace {

const Op& rms_norm() {
  return require_op("rms_norm");
}

// The scalar kernel, then `spoil`.
template <auto kSpoil>
AssayStatus then(const void* args) {
  const AssayStatus status = rms_norm().kernels().back().run(args);
  if (status == ASSAY_OK) kSpoil(*static_cast<const RmsNormArgs*>(args));
  return status;
}
void nothing(const RmsNormArgs&) {}
void off_by_a_bit(const RmsNormArgs& a) {
  a.y[0] = std::nextafter(a.y[0], std::numeric_limits<float>::infinity());
}
void last_row_too_large(const RmsNormArgs& a) {
  for (std::int64_t i = 0; i < a.n; ++i) a.y[(a.rows - 1) * a.y_stride + i] *= 1.001F;
}
void an_infinity_late(const RmsNormArgs& a) {
  a.y[(a.rows - 2) * a.y_stride + 77] = std::numeric_limits<float>::infinity();
}
void past_a_row(const RmsNormArgs& a) {
  a.y[a.n + 3] = 1;
}

void before_a_row(const RmsNormArgs& a) {
  a.y[-1] = 1;
}

void into_its_input(const RmsNormArgs& a) {
  const_cast<float*>(a.x)[a.n - 1] += 1;
}

// Where the file that is mapped again and again holds no row.
void far_between_rows(const RmsNormArgs& a) {
  a.y[a.y_stride / 2] = 1;
}

// Where the file that lies there begins.
void at_a_pages_begin(const RmsNormArgs& a) {
  auto* const first = reinterpret_cast<std::uint8_t*>(a.y);
  first[-static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(first) % 4096)] = 1;
}

struct Wrong {
  const char* name;
  AssayStatus (*run)(const void* args);
  Check check;
};
constexpr Wrong kWrong[] = {{"off_by_a_bit", then<off_by_a_bit>, Check::bits},
                            {"last_row_too_large", then<last_row_too_large>, Check::bound},
                            {"past_a_row", then<past_a_row>, Check::guard},
                            {"before_a_row", then<before_a_row>, Check::guard},
                            {"into_its_input", then<into_its_input>, Check::guard}};

template <class Test>
void expect_named(Test& test) {
  const CaseResult right = test.check(Variant{"right", Isa::scalar, then<nothing>}, Checks::all());
  EXPECT_FALSE(right.failure) << right.failure->message;
  EXPECT_GT(right.compared, 0);
  for (const Wrong& wrong : kWrong) {
    const CaseResult result = test.check(Variant{wrong.name, Isa::scalar, wrong.run}, Checks::all());
    ASSERT_TRUE(result.failure) << wrong.name;
    EXPECT_EQ(check_name(result.failure->check), check_name(wrong.check)) << wrong.name << ": " << result.failure->message;
  }
}

TEST(Drawn, VastCallsNameWhatIsWrong) {
  RepeatedInputs inputs(1);
  VastCheck check(rms_norm(), rms_norm().family->shapes(rms_norm()).vast.front(), inputs);
  expect_named(check);
  const CaseResult between = check.check(Variant{"far_between_rows", Isa::scalar, then<far_between_rows>}, Checks::all());
  ASSERT_TRUE(between.failure);
  EXPECT_EQ(between.failure->message, "touched what lies between or around rows of y");
  const CaseResult begin = check.check(Variant{"at_a_pages_begin", Isa::scalar, then<at_a_pages_begin>}, Checks::all());
  ASSERT_TRUE(begin.failure);
  EXPECT_TRUE(begin.failure->message.starts_with("wrote outside the rows of y: at byte 0 modulo ")) << begin.failure->message;
}

void in_place_alone(const RmsNormArgs& a) {
  if (a.x == a.y) a.y[0] += 1;
}

TEST(Drawn, VastCallsAreMadeInPlace) {
  RepeatedInputs inputs(1);
  VastCheck check(rms_norm(), {{"rows", 5}, {"n", 37}, {"eps", 1e-6}}, inputs);
  const CaseResult result = check.check(Variant{"in_place_alone", Isa::scalar, then<in_place_alone>}, Checks::all());
  ASSERT_TRUE(result.failure);
  EXPECT_TRUE(result.failure->message.starts_with("with y in place of x: ")) << result.failure->message;
}

TEST(Drawn, PromptsAreAmongVastCalls) {
  const std::vector<Params> calls = vast_params(require_op("swiglu"), kRandomWork);
  const auto called = [&](std::int64_t rows, std::int64_t least) {
    return std::ranges::any_of(calls,
                               [&](const Params& call) { return call.integer("rows") == rows && call.integer("n") >= least; });
  };
  EXPECT_TRUE(called(512, 3072));
  EXPECT_TRUE(called(1100, 2048));
}

// Of those that this CPU runs.
Variant fastest_variant(const Op& op) {
  const auto variants = variants_of(op);
  return *std::ranges::find_if(variants, isa_selectable, &Variant::isa);
}

Variant fast_gemm;  // found before the call: a kernel allocates nothing

// Of a vast call of many operations the scalar kernel runs the last rows: these are held to truth, and others to its bits there.
AssayStatus last_row_off(const void* args) {
  const auto& a = *static_cast<const ProductArgs*>(args);
  const AssayStatus status = fast_gemm.run(args);
  if (status == ASSAY_OK && a.m > 0 && a.n > 0) {
    float& last = a.y[(a.m - 1) * a.y_stride + a.n - 1];
    last = std::nextafter(last, std::numeric_limits<float>::infinity());
  }
  return status;
}

TEST(Drawn, OfALongVastCallTheScalarKernelRunsItsLastRows) {
  const Op& op = require_op("gemm_f16");
  const std::vector<Params> calls = vast_params(op, kRandomWork);
  const auto dear = std::ranges::max_element(calls, {}, [&](const Params& call) { return cost_of(op, call).operations(); });
  ASSERT_GT(cost_of(op, *dear).operations(), 1e9);
  RepeatedInputs inputs(1);
  VastCheck check(op, *dear, inputs);
  fast_gemm = fastest_variant(op);
  const CaseResult fast = check.check(fast_gemm, Checks::all());
  const CaseResult scalar = check.check(variants_of(op).back(), Checks::all());
  EXPECT_FALSE(fast.failure) << fast.failure->message;
  EXPECT_FALSE(scalar.failure) << scalar.failure->message;
  EXPECT_GT(scalar.compared, 0);
  EXPECT_GT(fast.compared, 0);
  const CaseResult wrong = check.check(Variant{"planted", Isa::scalar, last_row_off}, Checks::parse("bits"));
  ASSERT_TRUE(wrong.failure);
  EXPECT_EQ(check_name(wrong.failure->check), check_name(Check::bits));
}

TEST(Drawn, LongCallsNameWhatIsWrong) {
  const Params params{{"rows", std::int64_t{300}}, {"n", std::int64_t{4096}}, {"y_stride", std::int64_t{4100}}, {"eps", 1e-6}};
  ASSERT_GT(work_of(rms_norm(), params), kWholeTruth);
  CaseCheck check(rms_norm(), shape_test_case(rms_norm(), params), nullptr);
  expect_named(check);
  const CaseResult right = check.check(Variant{"right", Isa::scalar, then<nothing>}, Checks::all());
  EXPECT_LT(right.compared, 300 * 4096) << "only a sample";
  const CaseResult late =
      check.check(Variant{"an_infinity_late", Isa::scalar, then<an_infinity_late>}, Checks::parse("bound,classes"));
  ASSERT_TRUE(late.failure);
  EXPECT_EQ(check_name(late.failure->check), check_name(Check::classes)) << late.failure->message;
}

// Of 400 sizes that chance alone would spread over 2^18.
TEST(Drawn, SizesAreThoseThatMatter) {
  const Op& op = require_op("argmax");
  const ShapeSpace space = op.family->shapes(op);
  const std::vector<std::int64_t> used = values_in_use({Column::vocab});
  int below = 0;
  int past = 0;
  int in_use = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Draws draws(seed);
    const std::int64_t n = draw_params(op, space, draws, kLongWork).integer("n");
    below += n == 65535 || n == 65536 ? 1 : 0;
    past += n > 65536 && n <= 65553 ? 1 : 0;
    in_use += std::ranges::binary_search(used, n) ? 1 : 0;
  }
  EXPECT_GT(below, 0);
  EXPECT_GT(past, 10);
  EXPECT_GT(in_use, 30);
}

TEST(Drawn, TheTruthsSampleIsOfAllRows) {
  const Op& op = rms_norm();
  const TestCase test = generated_test_case(op, {{{"rows", std::int64_t{1000}}, {"n", std::int64_t{8}}}, "gauss", 1});
  Call call(op, test.params, test.inputs);
  call.place(call.placements().front());
  int behind = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const reference::Expected y = sampled_outputs(op, test.params, call.pointers(), seed).front();
    for (std::size_t row = 500; row < 990; ++row) behind += y.bits_only.at(8 * row) == 0 ? 1 : 0;
  }
  EXPECT_GT(behind, 10);
}

// Where nothing is in place, and inputs lie otherwise to each other than at first.
AssayStatus aligned_alike_or_in_place_alone(const void* args) {
  const auto& a = *static_cast<const AddArgs*>(args);
  const AssayStatus status = require_op("add").kernels().back().run(args);
  const auto residue = [](const float* x) { return reinterpret_cast<std::uintptr_t>(x) % 64; };
  const bool in_place = a.y == a.a || a.y == a.b;
  if (status == ASSAY_OK && a.n > 0 && !in_place && residue(a.a) != residue(a.b)) a.y[0] = std::nextafter(a.y[0], HUGE_VALF);
  return status;
}

TEST(Drawn, WhatMayRunInPlaceRunsElsewhereToo) {
  const Op& op = require_op("add");
  InProcess executor(aligned_alike_or_in_place_alone);
  int seen = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CaseCheck check(op, drawn_case(op, {{"n", std::int64_t{40}}}, "gauss", seed), nullptr);
    const CaseResult result = check.check({.name = "add", .selection = "", .executor = &executor}, Checks::parse("guard"));
    seen += result.failure ? 1 : 0;
  }
  EXPECT_GT(seen, 10);
}

// As those of another call's parameters.
TEST(Drawn, AnInputThatIsMissingIsNamed) {
  const Signature signature = signature_of(require_op("add"), {{"n", std::int64_t{4}}});
  std::vector<Array> inputs = generate_inputs(signature, {}, "gauss", 1);
  inputs.pop_back();
  EXPECT_EQ(message_of<std::invalid_argument>([&] { const LaidInputs laid(signature, inputs); }),
            "b is missing, or of another size than the call's");
}

// Of a table of 50,000 rows, which a draw of a few would hardly meet.
TEST(Drawn, TheLastIndexIsAmongThem) {
  const Op& op = require_op("embed_f32");
  const Params params = complete_params(op, {{"vocab", std::int64_t{50000}}, {"rows", std::int64_t{9}}, {"n", std::int64_t{3}}});
  const TestCase test = drawn_case(op, params, "gauss", 1);
  const Array& ids = test.inputs.at(1);
  EXPECT_EQ(std::count(ids.as<std::int32_t>(), ids.as<std::int32_t>() + ids.elements(), 49999), 1);
}

TEST(Drawn, RowsLieFarApartToo) {
  const Op& op = require_op("gemm_q4_k_f32");
  const ShapeSpace space = op.family->shapes(op);
  int far = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Draws draws(seed);
    const Params params = draw_params(op, space, draws, kLongWork);
    for (const Size& size : space.sizes) {
      if (size.stride_of != nullptr && params.has(size.name))
        far += params.integer(size.name) - dense_stride(size, params) >= 1024 ? 1 : 0;
    }
  }
  EXPECT_GT(far, 10);
}

}  // namespace
}  // namespace assay::drawn_test
