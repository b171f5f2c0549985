// The adapters of the three embedding look-ups differ in the table's type alone.
#pragma once

#include "harness/verdict/ops/bind.h"
#include "reference/embed.h"

namespace assay {

template <class Op, const reference::Contract& kContract, auto kReference, DType kType>
class EmbedAdapter final : public OpAdapter<Op, kContract, kReference> {
 public:
  using Args = typename Op::Args;

  Signature signature(const Params& params) const override {
    const std::int64_t vocab = size_of(params, "vocab");
    const std::int64_t rows = size_of(params, "rows");
    const std::int64_t n = size_of(params, "n");
    return {{input("table", kType, {vocab, n}), with_data(input("ids", DType::i32, {rows}), {"index", 1, 0, vocab}),
             strided(output("y", DType::f32, {rows, n}), {stride_of(params, "y_stride", n), 1})},
            {{"rows", 1, {{"ids", 0}, {"y", 0}}, {}}}};
  }

  Args bind(const Params& params, std::span<void* const> tensors) const override {
    Args args{};
    args.table = static_cast<decltype(args.table)>(tensors[0]);
    args.ids = pointer<const std::int32_t>(tensors, 1);
    args.y = pointer<float>(tensors, 2);
    args.vocab = params.integer("vocab");
    args.rows = params.integer("rows");
    args.n = params.integer("n");
    args.y_stride = params.integer_or("y_stride", args.n);
    return args;
  }

  ShapeSpace shape_space() const override {
    return {{{"vocab", 50, 70}, {"rows", 4, 9}, {"n", 200, 300}, {"y_stride", 0, 0, 1, "n"}}, {}};
  }
  GeneratedCase bias_case() const override { return {}; }
  Cost cost(const Params& params) const override {
    return {(4.0 + static_cast<double>(dtype_size(kType))) * params.real("rows") * params.real("n"), 0};
  }
  std::vector<Params> bench_params() const override { return {{{"vocab", 20000}, {"rows", 512}, {"n", 1024}}}; }
};

}  // namespace assay
