// The adapters of the linear ops differ in the types of weights and quantised activations alone.
#pragma once

#include "harness/verdict/ops/blocks.h"
#include "reference/linear.h"

namespace assay {

template <class Op, DType kW, DType kX>
class LinearAdapter final
    : public OpAdapter<Op, reference::kLinearContract, reference::linear<block_format(kW), block_format(kX), typename Op::Args>> {
 public:
  using Args = typename Op::Args;

  Signature signature(const Params& params) const override {
    const std::int64_t m = size_of(params, "m");
    const std::int64_t n = size_of(params, "n");
    const std::int64_t k = size_of(params, "k");
    const std::int64_t y_stride = stride_of(params, "y_stride", n);
    return {
        {input("w", kW, {n, blocks_of(kW, k)}), strided(input("x", DType::f32, {m, k}), {stride_of(params, "x_stride", k), 1}),
         strided(output("y", DType::f32, {m, n}), {y_stride, 1})},
        {{"n", 1, {{"w", 0}, {"y", 1}}, {{"y_stride", y_stride}}}, {"m", 1, {{"x", 0}, {"y", 0}}, {}}}};
  }

  Args bind(const Params& params, std::span<void* const> tensors) const override {
    return bind_product<Args>(params, tensors, params.integer("k"));
  }

  AssayStatus required_status(const Params& params, const std::vector<Array>& inputs) const override {
    const std::int64_t k = params.integer("k");
    return reference::linear_status(
        {block_format(kW), block_format(kX), nullptr, inputs[1].as<float>(), params.integer("m"), params.integer("n"), k, k});
  }

  ShapeSpace shape_space() const override {
    const std::int64_t unit = dtype_numbers(kW);
    return {{{"m", 5, 40}, {"n", 77, 130}, {"k", 1024, 3 * unit, unit}, {"x_stride", 0, 0, 1, "k"}, {"y_stride", 0, 0, 1, "n"}},
            {}};
  }
  GeneratedCase bias_case() const override { return {{{"m", 4}, {"n", 1024}, {"k", 1024}}, {}, 33}; }
  Cost cost(const Params& params) const override {
    const auto m = static_cast<double>(params.integer("m"));
    const std::int64_t n = params.integer("n");
    const std::int64_t k = params.integer("k");
    return {bytes_of(kW, n * blocks_of(kW, k)) + 4 * m * static_cast<double>(k + n), 0,
            2 * m * static_cast<double>(n) * static_cast<double>(k)};
  }
  std::vector<Params> bench_params() const override {
    std::vector<Params> all;
    for (const std::int64_t m : {std::int64_t{1}, std::int64_t{512}}) {
      for (const std::int64_t at : {0, 1}) {
        const auto& [n, k] = kBlockBenchShapes[at];
        all.push_back({{"m", m}, {"n", n}, {"k", k}});
      }
    }
    return all;
  }
};

}  // namespace assay
