// The adapters of kv_copy differ in the element's type alone.
#pragma once

#include "harness/verdict/ops/bind.h"
#include "reference/kv.h"

namespace assay {

template <class Op, const reference::Contract& kContract, auto kReference, DType kType>
class KvCopyAdapter final : public OpAdapter<Op, kContract, kReference> {
 public:
  using Args = typename Op::Args;

  Signature signature(const Params& params) const override {
    const Args a = layout(params);
    const std::vector<std::int64_t> shape{a.n_kv, a.positions, a.head_dim};
    return {{strided(input("src", kType, shape), tensor_strides(a, a.src_head_stride, a.src_row_stride)),
             strided(output("dst", kType, shape), tensor_strides(a, a.dst_head_stride, a.dst_row_stride))},
            {{"n_kv", 1, {{"src", 0}, {"dst", 0}}, {}},
             {"positions",
              1,
              {{"src", 1}, {"dst", 1}},
              {{"src_head_stride", a.src_head_stride}, {"dst_head_stride", a.dst_head_stride}}}}};
  }

  Args bind(const Params& params, std::span<void* const> tensors) const override {
    Args args = layout(params);
    args.src = static_cast<decltype(args.src)>(tensors[0]);
    args.dst = static_cast<decltype(args.dst)>(tensors[1]);
    return args;
  }

  ShapeSpace shape_space() const override {
    return {{{"n_kv", 3, 5},
             {"positions", 10, 40},
             {"head_dim", 80, 160},
             {"src_row_stride", 0, 0, 1, "head_dim"},
             {"dst_row_stride", 0, 0, 1, "head_dim"}},
            {}};
  }
  GeneratedCase bias_case() const override { return {}; }
  Cost cost(const Params& params) const override {
    const Args a = layout(params);
    return {2.0 * static_cast<double>(dtype_size(kType)) * static_cast<double>(a.n_kv * a.positions * a.head_dim), 0};
  }
  std::vector<Params> bench_params() const override {
    return {{{"n_kv", 8}, {"positions", 1024}, {"head_dim", 128}, {"dst_head_stride", 2048 * 128}}};
  }

 private:
  // A row stride below head_dim is for the kernel to refuse: the tensors then lie dense.
  static std::vector<std::int64_t> tensor_strides(const Args& a, std::int64_t head_stride, std::int64_t row_stride) {
    if (row_stride < a.head_dim) return {a.positions * a.head_dim, a.head_dim, 1};
    return {head_stride, row_stride, 1};
  }
  static Args layout(const Params& params) {
    Args a{};
    a.n_kv = size_of(params, "n_kv");
    a.positions = size_of(params, "positions");
    a.head_dim = size_of(params, "head_dim");
    a.src_row_stride = params.integer_or("src_row_stride", a.head_dim);
    a.dst_row_stride = params.integer_or("dst_row_stride", a.head_dim);
    a.src_head_stride = head_stride(params, "src_head_stride", a, a.src_row_stride);
    a.dst_head_stride = head_stride(params, "dst_head_stride", a, a.dst_row_stride);
    return a;
  }
  // Heads of rows, or rows of heads: either way none overlap.
  static std::int64_t head_stride(const Params& params, const char* name, const Args& a, std::int64_t row_stride) {
    const std::int64_t stride = params.integer_or(name, a.positions * row_stride);
    if (stride < a.positions * row_stride && (stride < a.head_dim || row_stride < a.n_kv * stride)) {
      throw std::invalid_argument(std::string(name) + " = " + std::to_string(stride) + ": rows and heads overlap");
    }
    return stride;
  }
};

}  // namespace assay
