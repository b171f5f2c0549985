// The adapters of matvec and gemm over tile-major weights differ in the weights' type alone.
#pragma once

#include "harness/verdict/ops/bind.h"
#include "reference/matvec.h"

namespace assay {

// The projections of Qwen3-0.6B that bench and peers are measured at: rows, columns.
inline constexpr std::int64_t kBenchShapes[3][2] = {{3072, 1024}, {1024, 3072}, {151936, 1024}};

template <class Op, const reference::Contract& kContract, auto kReference, DType kType>
class MatvecAdapter final : public OpAdapter<Op, kContract, kReference> {
 public:
  using Args = typename Op::Args;

  Signature signature(const Params& params) const override {
    const std::int64_t n = size_of(params, "n");
    const std::int64_t k = size_of(params, "k");
    return {{input("w", kType, {tiles(n), k, kTileRows}), input("x", DType::f32, {k}), output("y", DType::f32, {n})},
            {{"n", kTileRows, {{"w", 0, kTileRows}, {"y", 0}}, {}}}};
  }

  Args bind(const Params& params, std::span<void* const> tensors) const override {
    return bind_row_product<Args>(params, tensors);
  }

  ShapeSpace shape_space() const override { return {{{"n", 77, 200}, {"k", 1000, 700}}, {}}; }
  GeneratedCase bias_case() const override { return {{{"n", 2048}, {"k", 256}}, {}, 21}; }

  Cost cost(const Params& params) const override {
    const double n = params.real("n");
    const double k = params.real("k");
    return {
        static_cast<double>(dtype_size(kType)) * static_cast<double>(tiles(params.integer("n")) * kTileRows) * k + 4 * (n + k),
        2 * n * k};
  }

  std::vector<Params> bench_params() const override {
    std::vector<Params> all;
    for (const auto& [n, k] : kBenchShapes) all.push_back({{"n", n}, {"k", k}});
    return all;
  }
};

template <class Op, const reference::Contract& kContract, auto kReference, DType kType>
class TileGemmAdapter final : public OpAdapter<Op, kContract, kReference> {
 public:
  using Args = typename Op::Args;

  Signature signature(const Params& params) const override {
    const std::int64_t m = size_of(params, "m");
    const std::int64_t n = size_of(params, "n");
    const std::int64_t k = size_of(params, "k");
    const std::int64_t x_stride = stride_of(params, "x_stride", k);
    const std::int64_t y_stride = stride_of(params, "y_stride", n);
    return {{input("w", kType, {tiles(n), k, kTileRows}), strided(input("x", DType::f32, {m, k}), {x_stride, 1}),
             strided(output("y", DType::f32, {m, n}), {y_stride, 1})},
            {{"n", kTileRows, {{"w", 0, kTileRows}, {"y", 1}}, {{"y_stride", y_stride}}}, {"m", 1, {{"x", 0}, {"y", 0}}, {}}}};
  }

  Args bind(const Params& params, std::span<void* const> tensors) const override {
    return bind_product<Args>(params, tensors, params.integer("k"));
  }

  ShapeSpace shape_space() const override {
    return {{{"m", 5, 40}, {"n", 77, 130}, {"k", 1000, 300}, {"x_stride", 0, 0, 1, "k"}, {"y_stride", 0, 0, 1, "n"}}, {}};
  }
  GeneratedCase bias_case() const override { return {{{"m", 4}, {"n", 1024}, {"k", 256}}, {}, 22}; }

  Cost cost(const Params& params) const override {
    const double m = params.real("m");
    const double n = params.real("n");
    const double k = params.real("k");
    return {static_cast<double>(dtype_size(kType)) * static_cast<double>(tiles(params.integer("n")) * kTileRows) * k +
                4 * m * (n + k),
            2 * m * n * k};
  }

  std::vector<Params> bench_params() const override {
    return {{{"m", 512}, {"n", 3072}, {"k", 1024}}, {{"m", 512}, {"n", 1024}, {"k", 3072}}};
  }
};

}  // namespace assay
