// Arithmetic that is declared (tests/plugins/declared.cc): undeclared it fails, declared it passes as that, with its price, and a false
// declaration fails.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/reports/report.h"
#include "harness/reports/suite_text.h"
#include "harness/verdict/declaration.h"
#include "harness/verdict/suite.h"
#include "tests/refusals.h"

namespace assay::declared_test {
namespace {

// Of a kernel of declared_plugin, or "vectors:name" of another.
CheckRequest request(const std::string& op, const std::string& kernel) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string plugin = kernel.substr(0, kernel.find(':'));
  CheckRequest request;
  request.ops = {op};
  request.shapes = true;
  request.case_name = "bias";
  request.variant = plugin == kernel ? "declared:" + kernel : kernel;
  request.runner =
      RunnerOptions{"", {(folder / ((plugin == kernel ? "declared" : plugin) + "_plugin.so")).string()}, std::chrono::minutes(1)};
  return request;
}

// "bias: bound: y[0] = ..": the first failure of its goldens and of two cases made from seeds; empty: it passed.
struct Found {
  std::string failure;
  double price = 0;
  bool priced = false;
};

Found found(const std::string& op, const std::string& kernel) {
  Found all;
  for (const char* const which : {"bias", "order", ""}) {
    CheckRequest asked = request(op, kernel);
    asked.case_name = which;
    asked.shapes = which[0] != 0;
    asked.checks = Checks::parse("classes,bound,bias,spread,exact");  // where tensors lie is no question of arithmetic
    const SuiteResult result = run_suite(asked);
    for (const CaseResult& one : result.cases) {
      all.priced = all.priced || one.price.has_value();
      all.price = std::max(all.price, one.price.value_or(0));
      if (one.failure && all.failure.empty())
        all.failure = one.case_name + ": " + std::string(check_name(one.failure->check)) + ": " + one.failure->message;
    }
  }
  return all;
}

TEST(Declared, HonestKernelsPassAsDeclared) {
  for (const char* const kernel : {"f16_sums_declared", "x_f16_declared", "f64_declared", "lanes_declared", "one_declared",
                                   "out_f16_declared", "integers_declared", "narrow_total_declared"}) {
    const Found one = found("matvec_f32", kernel);
    EXPECT_EQ(one.failure, "") << kernel;
    EXPECT_TRUE(one.priced) << kernel;
  }
  EXPECT_EQ(found("gemv_q8_0_q8_0", "lanes_declared").failure, "");
  EXPECT_EQ(found("rms_norm", "estimate_declared").failure, "");
  EXPECT_EQ(found("rms_norm", "one_declared").failure, "");
  EXPECT_EQ(found("rms_norm", "two_off_declared").failure, "");
  EXPECT_EQ(found("softmax", "step_off_declared").failure, "");
  EXPECT_EQ(found("exp", "rough").failure, "");
  EXPECT_EQ(found("softmax", "flush_declared").failure, "");
}

TEST(Declared, UndeclaredTheyFailAsBefore) {
  for (const char* const kernel : {"f16_sums", "x_f16", "out_f16"}) {
    const Found one = found("matvec_f32", kernel);
    EXPECT_NE(one.failure.find(": bound: y["), std::string::npos) << kernel << ": " << one.failure;
    EXPECT_FALSE(one.priced) << kernel;
  }
  EXPECT_NE(found("gemv_q8_0_q8_0", "lanes").failure.find(": bound: y["), std::string::npos);
  EXPECT_NE(found("rms_norm", "estimate").failure.find(": bound: y["), std::string::npos);
}

// What is declared falsely, and by what it is found: the truth, the case in which sums lose the most, or the sums' order as it is discovered.
struct False {
  const char* op;
  const char* kernel;
  const char* failure;
};
constexpr False kFalse[] = {
    {"matvec_f32", "f16_sums_as_f32", "bias: bound: y["},
    {"matvec_f32", "x_f16_as_bf16", "bias: bound: y["},
    {"matvec_f32", "x_bf16_as_f16", "bias: bound: y["},
    {"matvec_f32", "f32_as_f64", "bias: bound: y["},
    {"matvec_f32", "one_as_16_lanes", "order: bound: y["},
    {"matvec_f32", "8_as_64_lanes", "order: bound: y["},
    {"matvec_f32", "one_as_tree", "order: bound: y["},
    {"matvec_f32", "16_as_8_lanes",
     "order: bound: order=lanes:8 is declared; at k=300,n=77 the products are added up in another: 16 lanes"},
    {"matvec_f32", "8_as_512_lanes",
     "order: bound: order=lanes:512 is declared; at k=1280,n=77 the products are added up in another: 8 lanes"},
    {"matvec_f32", "f32_as_bf16_sums", "order: bound: acc=bf16 is declared; at k=300,n=77 the products are added up in f32"},
    {"matvec_f32", "fused_as_bf16_products",
     "order: bound: products=bf16 is declared; the product 1.01568603515625 is added as 1.01568603515625, not as 1.015625"},
    {"matvec_f32", "f32_as_f16_out", "bias: bound: out=f16 is declared; y[0] = "},
    {"gemv_q8_0_q8_0", "8_as_512_lanes", "order: bound: order=lanes:512 is declared; "},
    {"gemv_q8_0_q8_0", "8_as_16_lanes",
     "order: bound: order=lanes:16 is declared; at k=1056,n=32 the blocks are added up in another: 8 lanes"},
    {"rms_norm", "one_as_16_lanes", "order: bound: order=lanes:16 is declared; "},
    {"rms_norm", "estimate_as_root", ": bound: y["},
    {"rms_norm", "two_off_as_one", "order: bound: rsqrt=1 is declared; the reciprocal root of "},
    {"softmax", "step_off_as_ours", "order: bound: exp=0.94 is declared; e^-"},
    {"exp", "rough_as_ours", ": bound: y["},
};

TEST(Declared, FalseDeclarationsFail) {
  for (const auto& [op, kernel, failure] : kFalse) {
    const std::string got = found(op, kernel).failure;
    EXPECT_NE(got.find(failure), std::string::npos) << op << " " << kernel << ": " << got;
  }
  EXPECT_NE(found("softmax", "flush").failure.find(": bound: y["), std::string::npos);
}

// Eight lanes are no fault of a kernel: there is an op that grants them.
TEST(Declared, AnotherOrderOfBlocksIsToldWhoGrantsIt) {
  const std::string failure = found("gemv_q8_0_q8_0", "lanes").failure;
  EXPECT_NE(failure.find("in up to 16 lanes it would be right: linear_q8_0 grants that order"), std::string::npos) << failure;
  const std::string of_q4_k = found("gemv_q4_k_q8_k", "vectors:lanes").failure;
  EXPECT_NE(of_q4_k.find("in up to 16 lanes it would be right: linear_q4_k grants that order"), std::string::npos) << of_q4_k;
  EXPECT_EQ(found("gemv_q4_k_q8_k", "vectors:lanes_declared").failure, "");
}

// Intel's SDM: two fused multiply-adds a lane, the odd element's first, to nearest even, denormal operands and results as zeros.
TEST(Declared, Bf16InstructionsPassAsTheyAreDocumented) {
  if (!__builtin_cpu_supports("avx512bf16")) GTEST_SKIP() << "this CPU has no vdpbf16ps";
  for (const char* const op : {"matvec_bf16", "gemm_bf16"}) {
    EXPECT_NE(found(op, "vectors:vdpbf16ps").failure.find(": bound: y["), std::string::npos) << op;
    const Found declared = found(op, "vectors:vdpbf16ps_declared");
    EXPECT_EQ(declared.failure, "") << op;
    EXPECT_GT(declared.price, 1) << op;
  }
}

TEST(Declared, ThePriceIsTheMarginWithoutTheDeclaration) {
  CheckRequest asked = request("matvec_f32", "x_f16_declared");
  asked.seed = 5;
  const SuiteResult declared = run_suite(asked);
  asked.variant = "declared:x_f16";
  const SuiteResult plain = run_suite(asked);
  ASSERT_EQ(declared.cases.size(), plain.cases.size());
  for (std::size_t i = 0; i < plain.cases.size(); ++i) {
    EXPECT_EQ(declared.cases[i].price, plain.cases[i].margin);
    EXPECT_LT(declared.cases[i].margin, 1);
    EXPECT_GT(*declared.cases[i].price, 1);
  }
}

TEST(Declared, TheReportSaysSo) {
  const CheckRequest asked = request("matvec_f32", "x_f16_declared");
  const SuiteResult result = run_suite(asked);
  expect_mentions(
      suite_table(result, Checks::all(), Style::plain()),
      {"pass as declared, price ", "matvec_f32 declared:x_f16_declared declares nan=no (not seen), order=lanes:8, x=f16\n"});
  const auto json = suite_json(result, asked);
  EXPECT_GT(json["cases"][0]["price"].get<double>(), 1);
  EXPECT_EQ(json["traits"][2].dump(),
            R"({"variant":"matvec_f32 declared:x_f16_declared","trait":"x","value":"f16","seen":true})");
  CheckRequest plain = request("matvec_f32", "x_f16");
  const SuiteResult before = run_suite(plain);
  EXPECT_EQ(suite_table(before, Checks::all(), Style::plain()).find("price"), std::string::npos);
  EXPECT_FALSE(suite_json(before, plain)["cases"][0].contains("price"));
}

using Words = std::map<std::string, std::string>;

std::string refusal(const std::string& op, const Words& words) {
  return message_of<std::invalid_argument>([&] { arithmetic_of(require_op(op), words); });
}

TEST(Declared, WordsThatThereAreNotAreRefusedWithThoseThereAre) {
  EXPECT_EQ(refusal("matvec_f32", {{"ordre", "free"}}), "unknown key 'ordre'; the nearest is 'order'");
  EXPECT_EQ(refusal("matvec_f32", {{"overread", "16"}}), "unknown key 'overread'; the nearest is 'over-read'");
  expect_mentions(refusal("matvec_f32", {{"quantum", "1"}}),
                  {"unknown key 'quantum'; expected allocates, ", "x, w, products, acc, order"});
  EXPECT_EQ(refusal("matvec_f32", {{"exp", "1"}}),
            "matvec_f32 has no use for 'exp' here; it has one for: x, w, products, acc, order, flush, out");
  EXPECT_EQ(refusal("gemv_q8_0_q8_0", {{"x", "f16"}}),
            "gemv_q8_0_q8_0 has no use for 'x' here; it has one for: acc, order, flush, out");
  EXPECT_EQ(refusal("linear_q4_k", {{"w", "bf16"}}),
            "linear_q4_k has no use for 'w' here; it has one for: x, acc, order, flush, out");
  EXPECT_EQ(refusal("convert_f32_f16", {{"flush", "yes"}}),
            "convert_f32_f16 has no use for 'flush' here; it has one for: none, its results are exact");
  EXPECT_EQ(arithmetic_of(require_op("linear_q4_k"), {{"w", "bf16"}, {"x", "bf16"}}).w, reference::find_operand("bf16"));
}

TEST(Declared, ValuesThatMakeNoSenseAreRefused) {
  EXPECT_EQ(refusal("matvec_f32", {{"x", "f12"}}),
            "x is 'f12'; expected f32, f16, bf16, q8_0, q8_k, i8_row, or that the key is left out");
  EXPECT_EQ(refusal("matvec_f32", {{"acc", "f8"}}),
            "acc is 'f8'; expected f64, f32, f16, bf16, i32, or that the key is left out");
  EXPECT_EQ(refusal("matvec_f32", {{"acc", "i32"}}),
            "acc is 'i32'; expected x=i8_row and w=i8_row beside it, or that the key is left out");
  for (const char* const alone : {"x", "w"}) {
    EXPECT_EQ(refusal("matvec_f32", {{"acc", "i32"}, {alone, "i8_row"}}),
              "acc is 'i32'; expected x=i8_row and w=i8_row beside it, or that the key is left out");
  }
  EXPECT_EQ(refusal("gemv_q8_0_q8_0", {{"acc", "i32"}}),
            "acc is 'i32'; expected f64, f32, f16, bf16, or that the key is left out");
  EXPECT_EQ(refusal("gemv_q8_0_q8_0", {{"order", "tree"}}),
            "order is 'tree'; expected canonical, free or lanes:N, or that the key is left out");
  for (const char* const order : {"lanes", "lanes:", "lanes:0", "lanes:1025", "lanes:8x", "free:2", "rows", "tree:-1"}) {
    EXPECT_EQ(refusal("matvec_f32", {{"order", order}}),
              "order is '" + std::string(order) +
                  "'; expected canonical, free, lanes:N, blocks:N, tree, tree:N, N from 1 to 1024, or that the key is left out");
  }
  EXPECT_EQ(refusal("matvec_f32", {{"flush", "no"}}), "flush is 'no'; expected yes, or that the key is left out");
  EXPECT_TRUE(arithmetic_of(require_op("matvec_f32"), {}).own());
}

}  // namespace
}  // namespace assay::declared_test
