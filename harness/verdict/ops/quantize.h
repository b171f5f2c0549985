// The adapters of the activations' quantisers differ in the format alone.
#pragma once

#include "harness/verdict/ops/blocks.h"
#include "reference/encode.h"

namespace assay {

template <class Op, Format kFormat>
class QuantizeAdapter final
    : public OpAdapter<Op, reference::kEncodeContract, reference::quantize_rows<kFormat, typename Op::Args>> {
 public:
  using Args = typename Op::Args;

  Signature signature(const Params& params) const override {
    const std::int64_t rows = size_of(params, "rows");
    const std::int64_t k = size_of(params, "k");
    const std::int64_t blocks = blocks_of(block(), k);
    return {{strided(input("src", DType::f32, {rows, k}), {stride_of(params, "src_stride", k), 1}),
             strided(output("dst", block(), {rows, blocks}), {stride_of(params, "dst_stride", blocks), 1})},
            {{"rows", 1, {{"src", 0}, {"dst", 0}}, {}}}};
  }

  Args bind(const Params& params, std::span<void* const> tensors) const override {
    Args args{};
    args.src = pointer<const float>(tensors, 0);
    args.dst = static_cast<decltype(args.dst)>(tensors[1]);
    args.rows = params.integer("rows");
    args.k = params.integer("k");
    args.src_stride = params.integer_or("src_stride", args.k);
    args.dst_stride = params.integer_or("dst_stride", blocks_of(block(), args.k));
    return args;
  }

  AssayStatus required_status(const Params& params, const std::vector<Array>& inputs) const override {
    if (!whole_blocks(block(), params.integer("k"))) return ASSAY_BAD_SHAPE;
    return reference::encode_status(kFormat, inputs[0].as<float>(), inputs[0].elements());
  }

  ShapeSpace shape_space() const override {
    const std::int64_t unit = dtype_numbers(block());
    return {{{"rows", 5, 9}, {"k", 1024, 1024, unit}, {"src_stride", 0, 0, 1, "k"}, {"dst_stride", 0, 0, unit, "k"}}, {}};
  }
  GeneratedCase bias_case() const override { return {}; }
  Cost cost(const Params& params) const override {
    const std::int64_t rows = params.integer("rows");
    const std::int64_t k = params.integer("k");
    return {4 * static_cast<double>(rows * k) + bytes_of(block(), rows * blocks_of(block(), k)), 0};
  }
  std::vector<Params> bench_params() const override { return {{{"rows", 1}, {"k", 1024}}, {{"rows", 512}, {"k", 1024}}}; }

 private:
  static DType block() { return plain_dtype(kFormat); }
};

}  // namespace assay
