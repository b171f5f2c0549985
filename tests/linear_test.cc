// linear_*: the bits of quantize and gemm one after the other, where the rows' blocks do not fit its stack at once too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "golden/generate.h"
#include "kernels/op_tables.h"

namespace assay::linear_test {
namespace {

struct Size {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

std::vector<float> random_floats(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  generate({"gauss"}, 11, 0, DType::f32, count, values.data());
  return values;
}

template <class Block>
std::vector<Block> random_blocks(DType dtype, std::int64_t count) {
  std::vector<Block> blocks(static_cast<std::size_t>(count));
  generate({"blocks"}, 12, 0, dtype, count, blocks.data());
  return blocks;
}

template <class W, class X>
void expect_composition(const OpTable& linear, const OpTable& quantize, const OpTable& gemm, DType type, std::int64_t elements,
                        const Size& size) {
  const std::vector<float> x = random_floats(size.m * size.k);
  const std::vector<W> w = random_blocks<W>(type, size.n * size.k / elements);
  std::vector<X> blocks(static_cast<std::size_t>(size.m * size.k / elements));
  std::vector<float> want(static_cast<std::size_t>(size.m * size.n));
  const CodecArgs quantized{x.data(), blocks.data(), size.m, size.k, size.k, size.k / elements};
  ASSERT_EQ(select_kernel(quantize).run(&quantized), ASSAY_OK);
  const ProductArgs product{w.data(), blocks.data(), want.data(), size.m, size.n, size.k, size.k / elements, size.n};
  ASSERT_EQ(select_kernel(gemm).run(&product), ASSAY_OK);
  for (const AnyKernel& kernel : linear.kernels) {
    if (!isa_supported(kernel.isa)) continue;
    std::vector<float> got(want.size(), 7);
    const ProductArgs args{w.data(), x.data(), got.data(), size.m, size.n, size.k, size.k, size.n};
    ASSERT_EQ(kernel.run(&args), ASSAY_OK) << kernel.name;
    EXPECT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof(float)), 0)
        << kernel.name << " m " << size.m << " k " << size.k;
  }
}

// 448 blocks of q8_k, 3855 of q8_0 fit at once: one row, several groups and a last one of another size.
TEST(Linear, ManyRowsAndLongOnesGiveTheBitsOfTheirParts) {
  using namespace kernel_tables;
  for (const Size& size : {Size{230, 3, 512}, Size{500, 2, 256}, Size{2, 2, ASSAY_LINEAR_MOST_COLUMNS}}) {
    expect_composition<BlockQ4_K, BlockQ8_K>(linear_q4_k, quantize_q8_k, gemm_q4_k_q8_k, DType::q4_k, 256, size);
  }
  for (const Size& size : {Size{700, 3, 192}, Size{3, 2, ASSAY_LINEAR_MOST_COLUMNS}}) {
    expect_composition<BlockQ8_0, BlockQ8_0>(linear_q8_0, quantize_q8_0, gemm_q8_0_q8_0, DType::q8_0, 32, size);
  }
}

TEST(Linear, ABadRowInTheLastGroupRefusesAllOfThem) {
  constexpr Size kSize{1000, 2, 256};
  std::vector<float> x = random_floats(kSize.m * kSize.k);
  x.back() = INFINITY;
  const std::vector<BlockQ4_K> w = random_blocks<BlockQ4_K>(DType::q4_k, kSize.n);
  for (const AnyKernel& kernel : kernel_tables::linear_q4_k.kernels) {
    if (!isa_supported(kernel.isa)) continue;
    std::vector<float> y(static_cast<std::size_t>(kSize.m * kSize.n), 7);
    const ProductArgs args{w.data(), x.data(), y.data(), kSize.m, kSize.n, kSize.k, kSize.k, kSize.n};
    EXPECT_EQ(kernel.run(&args), ASSAY_NOT_FINITE) << kernel.name;
    EXPECT_TRUE(std::ranges::all_of(y, [](float one) { return one == 7; })) << kernel.name;
  }
}

TEST(Linear, RowsThatDoNotFitAreRefused) {
  const std::int64_t k = ASSAY_LINEAR_MOST_COLUMNS + 256;
  const std::vector<float> x = random_floats(k);
  const std::vector<BlockQ4_K> w = random_blocks<BlockQ4_K>(DType::q4_k, k / 256);
  float y = 7;
  const ProductArgs args{w.data(), x.data(), &y, 1, 1, k, k, 1};
  EXPECT_EQ(select_kernel(kernel_tables::linear_q4_k).run(&args), ASSAY_BAD_SHAPE);
  EXPECT_EQ(y, 7);
}

}  // namespace
}  // namespace assay::linear_test
