// gemv over packed weights, rows longer than the 16384 columns it takes at a time: the scalar kernel's bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "golden/generate.h"
#include "kernels/op_tables.h"

namespace assay::packed_gemv_test {
namespace {

constexpr std::int64_t kRows = 19;  // the last tile is not full

template <class Block>
std::vector<Block> random_blocks(DType dtype, std::int64_t count, std::uint64_t seed) {
  std::vector<Block> blocks(static_cast<std::size_t>(count));
  generate({"blocks"}, seed, 0, dtype, count, blocks.data());
  return blocks;
}

// Activations lie in -127..127.
template <class Block>
std::vector<Block> random_activations(DType dtype, std::int64_t count) {
  std::vector<Block> blocks = random_blocks<Block>(dtype, count, 4);
  for (Block& block : blocks) {
    for (std::int8_t& code : block.qs) code = std::max<std::int8_t>(code, -127);
  }
  return blocks;
}

template <class Block, class Tile, class X>
void expect_scalar_bits(const OpTable& gemv, const OpTable& pack, DType weights, DType activations, std::int64_t elements,
                        std::int64_t k) {
  const std::int64_t blocks = k / elements;
  const std::vector<Block> plain = random_blocks<Block>(weights, kRows * blocks, 3);
  const std::vector<X> x = random_activations<X>(activations, blocks);
  std::vector<Tile> w(static_cast<std::size_t>((kRows + 15) / 16 * blocks));
  const PackArgs packing{plain.data(), w.data(), kRows, k, 0, 0};
  ASSERT_EQ(select_kernel(pack).run(&packing), ASSAY_OK);
  const auto run = [&](const AnyKernel& kernel, std::vector<float>& y) {
    const ProductArgs args{w.data(), x.data(), y.data(), 1, kRows, k, 0, 0};
    ASSERT_EQ(kernel.run(&args), ASSAY_OK) << kernel.name;
  };
  ASSERT_EQ(gemv.kernels.back().isa, Isa::scalar);
  std::vector<float> want(kRows, 7);
  run(gemv.kernels.back(), want);
  for (const float one : want) ASSERT_TRUE(std::isfinite(one) && one != 0 && one != 7);
  for (const AnyKernel& kernel : gemv.kernels) {
    if (!isa_supported(kernel.isa)) continue;
    std::vector<float> got(want.size(), 7);
    run(kernel, got);
    EXPECT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof(float)), 0) << kernel.name << " k " << k;
  }
}

TEST(PackedGemv, LongRowsHaveTheScalarBits) {
  using namespace kernel_tables;
  for (const std::int64_t k : {16384, 16384 + 256, 2 * 16384, 2 * 16384 + 512}) {
    expect_scalar_bits<BlockQ4_K, BlockQ4_Kx16, BlockQ8_K>(gemv_q4_k_x16_q8_k, pack_q4_k_x16, DType::q4_k, DType::q8_k, 256, k);
    expect_scalar_bits<BlockQ6_K, BlockQ6_Kx16, BlockQ8_K>(gemv_q6_k_x16_q8_k, pack_q6_k_x16, DType::q6_k, DType::q8_k, 256, k);
    expect_scalar_bits<BlockQ8_0, BlockQ8_0x16, BlockQ8_0>(gemv_q8_0_x16_q8_0, pack_q8_0_x16, DType::q8_0, DType::q8_0, 32, k);
  }
}

}  // namespace
}  // namespace assay::packed_gemv_test
