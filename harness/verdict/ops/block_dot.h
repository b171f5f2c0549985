// The adapters of gemv and gemm over blocks differ in the types of weights and activations alone.
#pragma once

#include "harness/verdict/ops/blocks.h"
#include "reference/block_dot.h"
#include "reference/block_matvec.h"

namespace assay {

// What gemv and gemm share; `x` is q8_0, q8_k or f32.
template <class Op, const reference::Contract& kContract, auto kReference, DType kW, DType kX>
class BlockProductAdapter : public OpAdapter<Op, kContract, kReference> {
 public:
  using Args = typename Op::Args;

  AssayStatus required_status(const Params& params, const std::vector<Array>&) const override {
    return whole_blocks(kW, params.integer("k")) ? ASSAY_OK : ASSAY_BAD_SHAPE;
  }

  std::map<std::string, std::vector<std::int64_t>> integer_parts(const Params& params,
                                                                 std::span<void* const> tensors) const override {
    if constexpr (kX == DType::f32) {
      return {};
    } else {
      constexpr Format kWeight = block_format(kW), kActivation = block_format(kX);
      const Args args = this->bind(params, tensors);
      std::vector<std::uint8_t> rows;
      auto parts = reference::integer_parts(reference::block_dot_call<kWeight, kActivation, is_packed(kW)>(args, rows));
      std::map<std::string, std::vector<std::int64_t>> named{{"I1", std::move(parts.i1)}};
      if (reference::info(kWeight).has_min) named.emplace("I2", std::move(parts.i2));
      return named;
    }
  }

 protected:
  static TensorSpec weights(std::int64_t n, std::int64_t k) { return input("w", kW, {weight_rows(kW, n), blocks_of(kW, k)}); }
  // Elements, or blocks.
  static std::int64_t x_length(std::int64_t k) { return kX == DType::f32 ? k : blocks_of(kX, k); }
  // Codes of activations lie in -127..127, and q8_k's sums follow from them.
  static TensorSpec activations(TensorSpec spec) { return kX == DType::f32 ? spec : with_data(std::move(spec), {"activations"}); }
  static std::int64_t unit() { return dtype_numbers(kW); }

  static Cost cost_of(double m, std::int64_t n, std::int64_t k) {
    const double x = kX == DType::f32 ? 4 * static_cast<double>(k) : bytes_of(kX, blocks_of(kX, k));
    const double operations = 2 * m * static_cast<double>(n) * static_cast<double>(k);
    return {bytes_of(kW, weight_rows(kW, n) * blocks_of(kW, k)) + m * (x + 4 * static_cast<double>(n)),
            kX == DType::f32 ? operations : 0, kX == DType::f32 ? 0 : operations};
  }
};

template <class Op, const reference::Contract& kContract, auto kReference, DType kW, DType kX>
class BlockGemvAdapter final : public BlockProductAdapter<Op, kContract, kReference, kW, kX> {
  using Base = BlockProductAdapter<Op, kContract, kReference, kW, kX>;

 public:
  using Args = typename Op::Args;

  Signature signature(const Params& params) const override {
    const std::int64_t n = size_of(params, "n");
    const std::int64_t k = size_of(params, "k");
    return {{Base::weights(n, k), Base::activations(input("x", kX, {Base::x_length(k)})), output("y", DType::f32, {n})},
            {{"n", rows_a_block(kW), {{"w", 0, rows_a_block(kW)}, {"y", 0}}, {}}}};
  }

  Args bind(const Params& params, std::span<void* const> tensors) const override {
    return bind_row_product<Args>(params, tensors);
  }

  ShapeSpace shape_space() const override { return {{{"n", 77, 200}, {"k", 1024, 7 * Base::unit(), Base::unit()}}, {}}; }
  GeneratedCase bias_case() const override { return {{{"n", 2048}, {"k", 1024}}, {}, 31}; }
  Cost cost(const Params& params) const override { return Base::cost_of(1, params.integer("n"), params.integer("k")); }
  std::vector<Params> bench_params() const override {
    std::vector<Params> all;
    for (const auto& [n, k] : kBlockBenchShapes) all.push_back({{"n", n}, {"k", k}});
    return all;
  }
};

template <class Op, const reference::Contract& kContract, auto kReference, DType kW, DType kX>
class BlockGemmAdapter final : public BlockProductAdapter<Op, kContract, kReference, kW, kX> {
  using Base = BlockProductAdapter<Op, kContract, kReference, kW, kX>;

 public:
  using Args = typename Op::Args;

  Signature signature(const Params& params) const override {
    const std::int64_t m = size_of(params, "m");
    const std::int64_t n = size_of(params, "n");
    const std::int64_t k = size_of(params, "k");
    const std::int64_t x_stride = stride_of(params, "x_stride", Base::x_length(k));
    const std::int64_t y_stride = stride_of(params, "y_stride", n);
    return {{Base::weights(n, k), Base::activations(strided(input("x", kX, {m, Base::x_length(k)}), {x_stride, 1})),
             strided(output("y", DType::f32, {m, n}), {y_stride, 1})},
            {{"n", rows_a_block(kW), {{"w", 0, rows_a_block(kW)}, {"y", 1}}, {{"y_stride", y_stride}}},
             {"m", 1, {{"x", 0}, {"y", 0}}, {}}}};
  }

  Args bind(const Params& params, std::span<void* const> tensors) const override {
    return bind_product<Args>(params, tensors, Base::x_length(params.integer("k")));
  }

  ShapeSpace shape_space() const override {
    const std::int64_t x_unit = dtype_numbers(kX);
    return {{{"m", 5, 40},
             {"n", 77, 130},
             {"k", 1024, 3 * Base::unit(), Base::unit()},
             {"x_stride", 0, 0, x_unit, "k"},
             {"y_stride", 0, 0, 1, "n"}},
            {}};
  }
  GeneratedCase bias_case() const override { return {{{"m", 4}, {"n", 1024}, {"k", 1024}}, {}, 32}; }
  Cost cost(const Params& params) const override {
    return Base::cost_of(params.real("m"), params.integer("n"), params.integer("k"));
  }
  std::vector<Params> bench_params() const override {
    std::vector<Params> all;
    for (const auto& [n, k] : kBlockBenchShapes) all.push_back({{"m", 512}, {"n", n}, {"k", k}});
    return all;
  }
};

// The reference that belongs to a pair of types.
template <class Op, DType kW, DType kX>
constexpr auto block_reference() {
  if constexpr (kX == DType::f32) {
    return reference::block_matvec<block_format(kW), typename Op::Args>;
  } else {
    return reference::block_dot<block_format(kW), block_format(kX), is_packed(kW), typename Op::Args>;
  }
}

template <DType kW, DType kX>
constexpr const reference::Contract& block_contract() {
  if (kX == DType::f32) return reference::kBlockMatvecContract;
  if (kX == DType::q8_0) return reference::kBlockDotHalfContract;
  return kW == DType::q4_k || kW == DType::q4_k_x16 || kW == DType::q5_k ? reference::kBlockDotMinContract
                                                                         : reference::kBlockDotContract;
}

template <class Op, DType kW, DType kX>
using GemvAdapter = BlockGemvAdapter<Op, block_contract<kW, kX>(), block_reference<Op, kW, kX>(), kW, kX>;
template <class Op, DType kW, DType kX>
using GemmAdapter = BlockGemmAdapter<Op, block_contract<kW, kX>(), block_reference<Op, kW, kX>(), kW, kX>;

}  // namespace assay
