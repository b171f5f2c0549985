// The adapters of the four conversions differ in their types alone.
#pragma once

#include "harness/verdict/ops/bind.h"
#include "reference/conversions.h"

namespace assay {

template <class Op, const reference::Contract& kContract, auto kReference, DType kSrc, DType kDst>
class ConvertAdapter final : public OpAdapter<Op, kContract, kReference> {
 public:
  using Args = typename Op::Args;

  Signature signature(const Params& params) const override {
    const std::int64_t n = size_of(params, "n");
    return {{input("src", kSrc, {n}), output("dst", kDst, {n})}, {{"n", 1, {{"src", 0}, {"dst", 0}}, {}}}};
  }

  Args bind(const Params& params, std::span<void* const> tensors) const override {
    Args args{};
    args.src = static_cast<decltype(args.src)>(tensors[0]);
    args.dst = static_cast<decltype(args.dst)>(tensors[1]);
    args.n = params.integer("n");
    return args;
  }

  ShapeSpace shape_space() const override { return {{{"n", 1000, 3000}}, {}}; }
  GeneratedCase bias_case() const override { return {}; }
  Cost cost(const Params& params) const override {
    return {static_cast<double>(dtype_size(kSrc) + dtype_size(kDst)) * params.real("n"), 0};
  }
  std::vector<Params> bench_params() const override { return {{{"n", 1024 * 1024}}}; }
};

}  // namespace assay
