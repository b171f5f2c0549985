// The adapters of packing to tile-major and back differ in the element's width alone.
#pragma once

#include "harness/verdict/ops/bind.h"
#include "reference/packing.h"

namespace assay {

// What both directions share.
template <class Op, const reference::Contract& kContract, auto kReference, DType kType>
class TileAdapter : public OpAdapter<Op, kContract, kReference> {
 public:
  GeneratedCase bias_case() const override { return {}; }
  Cost cost(const Params& params) const override {
    const double elements = static_cast<double>(tiles(params.integer("n")) * kTileRows * params.integer("k"));
    return {2.0 * static_cast<double>(dtype_size(kType)) * elements, 0};
  }
  std::vector<Params> bench_params() const override { return {{{"n", 3072}, {"k", 1024}}}; }
};

template <class Op, const reference::Contract& kContract, auto kReference, DType kType>
class PackTileAdapter final : public TileAdapter<Op, kContract, kReference, kType> {
 public:
  using Args = typename Op::Args;

  Signature signature(const Params& params) const override {
    const std::int64_t n = size_of(params, "n");
    const std::int64_t k = size_of(params, "k");
    const std::int64_t stride = stride_of(params, "src_stride", k);
    return {{strided(input("src", kType, {n, k}), {stride, 1}), output("dst", kType, {tiles(n), k, kTileRows})},
            {{"n", kTileRows, {{"src", 0}, {"dst", 0, kTileRows}}, {}}}};
  }

  Args bind(const Params& params, std::span<void* const> tensors) const override {
    Args args{};
    args.src = static_cast<decltype(args.src)>(tensors[0]);
    args.dst = static_cast<decltype(args.dst)>(tensors[1]);
    args.n = params.integer("n");
    args.k = params.integer("k");
    args.src_stride = params.integer_or("src_stride", args.k);
    return args;
  }

  ShapeSpace shape_space() const override { return {{{"n", 77, 130}, {"k", 100, 140}, {"src_stride", 0, 0, 1, "k"}}, {}}; }
};

template <class Op, const reference::Contract& kContract, auto kReference, DType kType>
class UnpackTileAdapter final : public TileAdapter<Op, kContract, kReference, kType> {
 public:
  using Args = typename Op::Args;

  Signature signature(const Params& params) const override {
    const std::int64_t n = size_of(params, "n");
    const std::int64_t k = size_of(params, "k");
    const std::int64_t stride = stride_of(params, "dst_stride", k);
    return {{input("src", kType, {tiles(n), k, kTileRows}), strided(output("dst", kType, {n, k}), {stride, 1})},
            {{"n", kTileRows, {{"src", 0, kTileRows}, {"dst", 0}}, {}}}};
  }

  Args bind(const Params& params, std::span<void* const> tensors) const override {
    Args args{};
    args.src = static_cast<decltype(args.src)>(tensors[0]);
    args.dst = static_cast<decltype(args.dst)>(tensors[1]);
    args.n = params.integer("n");
    args.k = params.integer("k");
    args.dst_stride = params.integer_or("dst_stride", args.k);
    return args;
  }

  ShapeSpace shape_space() const override { return {{{"n", 77, 130}, {"k", 100, 140}, {"dst_stride", 0, 0, 1, "k"}}, {}}; }
};

}  // namespace assay
