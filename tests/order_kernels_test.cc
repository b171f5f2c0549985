// `assay order` on our own kernels: each sum is proved to be in the canonical order.
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/forensics/order/claim.h"
#include "harness/forensics/order/functions.h"
#include "harness/forensics/order/kernel_sums.h"
#include "harness/forensics/order/order.h"
#include "harness/forensics/order/sum.h"
#include "harness/verdict/guard.h"
#include "harness/verdict/variant.h"

namespace assay::order::order_kernels_test {
namespace {

// ASSAY_ORDER_ALL: every length that is claimed.
std::vector<std::int64_t> lengths_to_prove() {
  if (std::getenv("ASSAY_ORDER_ALL") == nullptr) return {1, 2, 63, 64, 65, 130, 1000};
  std::vector<std::int64_t> all;
  for (std::int64_t k = 1; k <= 130; ++k) all.push_back(k);
  for (const std::int64_t k : {1000, 4095, 4096}) all.push_back(k);
  return all;
}

TEST(Order, OurNormsAndAttentionAddInTheCanonicalOrder) {
  for (const Op* op : ops()) {
    const std::string family = op->family->name;
    OrderRequest request{.op = op->name};
    if (family == "rms_norm" || family == "softmax") {
      for (const std::int64_t n : {3, 17, 100}) request.shapes.push_back({{"n", n}, {"rows", std::int64_t{32}}});
    } else if (family == "attention") {
      for (const std::int64_t keys : {3, 17, 1030}) request.shapes.push_back(params_of_length(*op, keys));
    } else {
      continue;
    }
    for (const KernelOrder& kernel : find_orders(request, [](const std::string&) {}).kernels) {
      for (const SumOrder& sum : kernel.sums) {
        EXPECT_TRUE(sum.canonical) << kernel.variant << " " << sum.what << " " << sum.params.to_string() << " " << sum.why;
        EXPECT_EQ(sum.found ? accumulator_name(*sum.found) : "", "f32") << kernel.variant << " " << sum.what;
        EXPECT_TRUE(sum.depends.empty()) << kernel.variant << " " << sum.what;
      }
    }
  }
}

TEST(Order, OurKernelsOfBlocksAddInTheCanonicalOrder) {
  for (const Op* op : ops()) {
    if (std::string(op->family->name) != "product" || !is_block(op->from)) continue;
    OrderRequest request{.op = op->name};
    request.shapes.push_back(params_of_length(*op, 4 * dtype_numbers(op->from)));
    for (const KernelOrder& kernel : find_orders(request, [](const std::string&) {}).kernels) {
      for (const SumOrder& sum : kernel.sums) EXPECT_TRUE(sum.canonical) << kernel.variant << " " << sum.why;
    }
  }
}

TEST(Order, OurKernelsAddInTheCanonicalOrder) {
  for (const Op* op : ops()) {
    if (std::string(op->family->name) != "product" || is_block(op->from)) continue;
    OrderRequest request{.op = op->name};
    for (const std::int64_t k : lengths_to_prove()) request.shapes.push_back({{"k", k}, {"n", 77}});
    const OrderResult result = find_orders(request, [](const std::string&) {});
    EXPECT_FALSE(result.kernels.empty());
    for (const KernelOrder& kernel : result.kernels) {
      EXPECT_FALSE(kernel.breaks_claim());
      EXPECT_FALSE(kernel.depends_on_shape());
      for (const SumOrder& sum : kernel.sums) {
        EXPECT_TRUE(sum.canonical) << kernel.variant << " " << sum.params.to_string() << " " << sum.why;
        EXPECT_TRUE(sum.depends.empty()) << kernel.variant << " " << sum.params.to_string();
        if (sum.terms < 3) continue;
        EXPECT_EQ(accumulator_name(*sum.found), "f32") << kernel.variant << " " << sum.params.to_string();
        EXPECT_EQ(sum.found->fused, true) << kernel.variant << " " << sum.params.to_string();
      }
    }
  }
}

// Ours is within 0.939 ulp, and our reciprocal root, of two roundings, within 1 as the bound counts it.
TEST(Order, AFunctionRougherThanDeclaredIsSeen) {
  struct Claim {
    const char* op;
    double reference::Arithmetic::*word;
    double held;
    double rougher;
    const char* words;
  };
  constexpr double reference::Arithmetic::*kExp = &reference::Arithmetic::exp;
  constexpr Claim kClaims[] = {
      {"softmax", kExp, 0.94, 0.5, "exp=0.5 is declared; e^-"},
      {"attn_decode_f32", kExp, 0.94, 0.5, "exp=0.5 is declared; e^-"},
      {"attn_decode_f16", kExp, 0.94, 0.5, "exp=0.5 is declared; e^-"},
      {"attn_prefill_f32", kExp, 0.94, 0.5, "exp=0.5 is declared; e^-"},
      {"rms_norm", &reference::Arithmetic::rsqrt, 1, 0.5, "rsqrt=0.5 is declared; the reciprocal root of "}};
  for (const Claim& claim : kClaims) {
    const Op& op = require_op(claim.op);
    const Variant scalar = variants_of(op).back();
    InProcess executor(scalar.run);
    Candidate candidate{.name = scalar.name, .selection = "", .executor = &executor};
    candidate.arithmetic.*claim.word = claim.held;
    EXPECT_EQ(false_function(op, candidate, guard_page_bytes()), std::nullopt) << claim.op;
    candidate.arithmetic.*claim.word = claim.rougher;
    EXPECT_TRUE(false_function(op, candidate, guard_page_bytes()).value_or("").starts_with(claim.words)) << claim.op;
  }
}

// A score's products are added in sixteen lanes; weights and weighted values otherwise, of which `order` says nothing.
TEST(Order, AttentionsOrderIsThatOfItsScores) {
  const Op& op = require_op("attn_decode_f32");
  const Variant scalar = variants_of(op).back();
  InProcess executor(scalar.run);
  const Candidate candidate{.name = scalar.name, .selection = "", .executor = &executor};
  Refuter refuter(op, candidate, guard_page_bytes(), {reference::Order::Kind::lanes, 16});
  EXPECT_FALSE(refuter.refutes("order=lanes:16;"));
  EXPECT_TRUE(refuter.refutes("order=lanes:8;"));
}

TEST(Order, AnOpWithoutASumIsRefused) {
  EXPECT_THROW(find_orders({.op = "add"}, [](const std::string&) {}), std::invalid_argument);
}

}  // namespace
}  // namespace assay::order::order_kernels_test
