// The rows of products: each is an op under its own name, whose best variant is chosen at each ISA.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/op_tables.h"

namespace assay::dispatch_test {
namespace {

struct Row {
  std::string op;
  std::string product;
  std::string weights;
  std::string layout;
  std::string activations;
  bool operator==(const Row&) const = default;
};

const std::vector<Row> kRows = {
#define ASSAY_GROUP(group, arguments, isas)
#define ASSAY_OP(op, product, weights, layout, activations) {#op, #product, #weights, #layout, #activations},
#include "kernels/products/ops.inc"
#undef ASSAY_GROUP
#undef ASSAY_OP
};

// What an op's name says. matvec is a gemv over tile-major weights, and linear names no activations.
std::optional<Row> row_of(const std::string& op) {
  const std::set<std::string> blocks = {"q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q4_k", "q5_k", "q6_k"};
  const std::set<std::string> numbers = {"f32", "f16", "bf16"};
  const auto quantised = [](const std::string& weights) { return weights.ends_with("k") ? "q8_k" : "q8_0"; };
  const std::string form = op.substr(0, op.find('_'));
  const std::string rest = op.substr(std::min(op.size(), form.size() + 1));
  if (form == "linear" && blocks.contains(rest)) return Row{op, form, rest, "plain", quantised(rest)};
  if (form != "matvec" && form != "gemv" && form != "gemm") return std::nullopt;
  if (form != "gemv" && numbers.contains(rest)) return Row{op, form == "matvec" ? "gemv" : form, rest, "tile", "f32"};
  for (const std::string& weights : blocks) {
    for (const char* activations : {"f32", quantised(weights)}) {
      if (form != "matvec" && rest == weights + "_" + activations) return Row{op, form, weights, "plain", activations};
    }
    if (form != "matvec" && rest == weights + "_x16_" + quantised(weights))
      return Row{op, form, weights, "x16", quantised(weights)};
  }
  return std::nullopt;
}

const OpTable& table_of(const Row& row) {
  const OpTable* table = find_op_table(row.op);
  EXPECT_NE(table, nullptr) << row.op;
  return *table;
}

TEST(Dispatch, EveryOpThatMultipliesIsARow) {
  std::set<std::string> rows;
  for (const Row& row : kRows) EXPECT_TRUE(rows.insert(row.op).second) << row.op;
  std::set<std::string> tables;
  for (const OpTable& table : op_tables()) {
    if (row_of(table.op)) tables.insert(table.op);
    EXPECT_EQ(row_of(table.op).has_value(), rows.contains(table.op)) << table.op;
  }
  EXPECT_FALSE(rows.empty());
  EXPECT_EQ(tables, rows);
}

TEST(Dispatch, ANameSaysWhatItsRowSays) {
  for (const Row& row : kRows) EXPECT_EQ(row_of(row.op), row) << row.op;
}

TEST(Dispatch, AVariantIsNamedAfterItsOpAndIsaAndStandsOnce) {
  for (const Row& row : kRows) {
    const OpTable& table = table_of(row);
    EXPECT_EQ(table.args_bytes, sizeof(ProductArgs)) << row.op;
    std::set<Isa> isas;
    for (const AnyKernel& kernel : table.kernels) {
      EXPECT_TRUE(isas.insert(kernel.isa).second) << kernel.name;
      EXPECT_EQ(kernel.name, row.op + "_" + std::string(isa_name(kernel.isa)));
    }
  }
}

TEST(Dispatch, EveryOpResolvesToItsBestVariantAtEachIsa) {
  for (const Row& row : kRows) {
    const OpTable& table = table_of(row);
    EXPECT_EQ(select_kernel(table, Isa::scalar).isa, Isa::scalar) << row.op;
    for (const AnyKernel& kernel : table.kernels) {
      if (!isa_selectable(kernel.isa)) continue;
      EXPECT_STREQ(select_kernel(table, kernel.isa).name, kernel.name);
    }
  }
}

TEST(Dispatch, EveryPairIsMultipliedByOneRowAndByMany) {
  std::map<std::string, std::set<std::string>> products;
  for (const Row& row : kRows) {
    if (row.product != "linear") products[row.weights + " " + row.layout + " x " + row.activations].insert(row.product);
  }
  for (const auto& [pair, forms] : products) EXPECT_EQ(forms, (std::set<std::string>{"gemm", "gemv"})) << pair;
  for (const char* pair : {"q4_k plain x q8_k", "q4_k plain x f32", "q4_k x16 x q8_k", "f16 tile x f32", "q5_0 plain x q8_0"}) {
    EXPECT_TRUE(products.contains(pair)) << pair;
  }
}

TEST(Dispatch, UnknownOpsAreNotFound) {
  for (const char* op : {"gemm_q4_k_q8_0", "gemv_q4_k_x8_q8_k", "gemv_q4_k_q8_1", "matvec_q4_k", "linear", ""}) {
    EXPECT_EQ(find_op_table(op), nullptr) << op;
    EXPECT_EQ(row_of(op), std::nullopt) << op;
  }
}

TEST(Dispatch, ATableRunsTheTypedFunction) {
  BlockQ4_K w = {};
  w.d = 0x3c00;
  w.scales[0] = 1;
  w.qs[0] = 3;
  BlockQ8_K x = {};
  x.d = 0.5f;
  x.qs[0] = 5;
  float y[2] = {};
  const ProductArgs typed{&w, &x, &y[0], 1, 1, 256, 1, 1};
  const ProductArgs any{&w, &x, &y[1], 1, 1, 256, 1, 1};
  EXPECT_EQ(gemv_q4_k_q8_k_scalar(&typed), ASSAY_OK);
  EXPECT_EQ(kernel_tables::gemv_q4_k_q8_k.kernels.back().run(&any), ASSAY_OK);
  EXPECT_EQ(y[0], 7.5f);
  EXPECT_EQ(y[1], 7.5f);
}

TEST(Dispatch, AGemvTakesOneRow) {
  for (const Row& row : kRows) {
    if (row.product != "gemv") continue;
    for (const AnyKernel& kernel : table_of(row).kernels) {
      if (!isa_supported(kernel.isa)) continue;
      for (const std::int64_t m : {-1, 0, 2}) {
        float y = 7;
        const ProductArgs args{nullptr, nullptr, &y, m, 1, 0, 0, 1};
        EXPECT_EQ(kernel.run(&args), ASSAY_BAD_SHAPE) << kernel.name << " m " << m;
        EXPECT_EQ(y, 7);
      }
    }
  }
}

}  // namespace
}  // namespace assay::dispatch_test
