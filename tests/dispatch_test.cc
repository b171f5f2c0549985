// The dispatch table holds every op that multiplies, answers with its best variant, and says what exists where asked for what
// does not.
#include "kernels/dispatch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <tuple>

#include "kernels/gemv_q4_k_q8_k/gemv_q4_k_q8_k.h"
#include "kernels/matvec_f16/matvec_f16.h"

namespace assay {
namespace {

std::set<std::string> ops_in_table() {
  std::set<std::string> ops;
  for (const ProductKernel& row : product_kernels()) ops.insert(row.op);
  return ops;
}

bool multiplies(const std::string& op) {
  return op.starts_with("gemv_") || op.starts_with("gemm_") || op.starts_with("matvec_");
}

TEST(Dispatch, EveryOpThatMultipliesIsInTheTable) {
  std::set<std::string> folders;
  const auto kernels = std::filesystem::path(std::getenv("ASSAY_SOURCE_DIR")) / "kernels";
  for (const auto& entry : std::filesystem::directory_iterator(kernels)) {
    const std::string op = entry.path().filename().string();
    if (multiplies(op) && std::filesystem::exists(entry.path() / "kernels.inc")) folders.insert(op);
  }
  EXPECT_FALSE(folders.empty());
  EXPECT_EQ(ops_in_table(), folders);
}

TEST(Dispatch, AnOpStandsInOneRowPerVariantUnderItsOwnTypes) {
  std::set<std::tuple<WeightType, ActivationType, Product, Isa>> keys;
  for (const ProductKernel& row : product_kernels()) {
    EXPECT_TRUE(keys.emplace(row.weights, row.activations, row.product, row.isa).second) << row.name;
    EXPECT_EQ(row.name, std::string(row.op) + "_" + std::string(isa_name(row.isa)));
    const std::string weights(type_name(row.weights));
    const bool tiled = weights.ends_with("_tile");
    const std::string product = tiled && row.product == Product::gemv ? "matvec" : std::string(product_name(row.product));
    const std::string named = tiled ? product + "_" + weights.substr(0, weights.size() - 5)
                                    : product + "_" + weights + "_" + std::string(type_name(row.activations));
    EXPECT_EQ(row.op, named);
  }
}

TEST(Dispatch, EveryPairResolvesToItsBestVariantAtEachIsa) {
  for (const ProductKernel& row : product_kernels()) {
    const Product product = row.product;
    EXPECT_EQ(find_product(row.weights, row.activations, product, Isa::scalar).isa, Isa::scalar) << row.op;
    if (!isa_supported(row.isa)) continue;
    EXPECT_STREQ(find_product(row.weights, row.activations, product, row.isa).name, row.name);
  }
}

TEST(Dispatch, AMissingPairListsThoseThatExist) {
  try {
    (void)find_product(WeightType::q4_k, ActivationType::q8_0, Product::gemm);
    FAIL() << "q4_k x q8_0 has no kernel";
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("no gemm of weights x activations q4_k x q8_0"), std::string::npos) << message;
    for (const char* pair : {"q4_k x q8_k", "q4_k x f32", "q4_k_x16 x q8_k", "f16_tile x f32", "q5_0 x q8_0"}) {
      EXPECT_NE(message.find(pair), std::string::npos) << pair << " is not in: " << message;
    }
  }
}

TEST(Dispatch, ARowGivesBackItsTypedFunction) {
  const ProductKernel& row = find_product(WeightType::q4_k, ActivationType::q8_k, Product::gemv, Isa::scalar);
  EXPECT_EQ(product_kernel<GemvQ4KQ8K>(row), kernels<GemvQ4KQ8K>().back().run);
  EXPECT_THROW(product_kernel<MatvecF16>(row), std::logic_error);
}

TEST(Dispatch, NamesGoBothWays) {
  for (const ProductKernel& row : product_kernels()) {
    EXPECT_EQ(weight_type_from_name(type_name(row.weights)), row.weights);
    EXPECT_EQ(activation_type_from_name(type_name(row.activations)), row.activations);
  }
  EXPECT_EQ(weight_type_from_name("q4_k_x8"), std::nullopt);
  EXPECT_EQ(activation_type_from_name("q8_1"), std::nullopt);
}

}  // namespace
}  // namespace assay
