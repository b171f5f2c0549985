// The adapters of kv_store differ in the cache's type alone. dst is the rows that are written, [n_kv, tokens, head_dim_padded]:
// the rest of the cache is its surroundings, which the guard watches.
#pragma once

#include <algorithm>

#include "harness/verdict/ops/bind.h"
#include "reference/kv.h"

namespace assay {

template <class Op, const reference::Contract& kContract, auto kReference, DType kCache>
class KvStoreAdapter final : public OpAdapter<Op, kContract, kReference> {
 public:
  using Args = typename Op::Args;

  Signature signature(const Params& params) const override {
    const Args a = layout(params);
    // Heads a whole call apart even where the cache is too small for it: such a call is refused.
    const std::int64_t head_stride = std::max(a.capacity, a.tokens) * a.head_dim_padded;
    return {{strided(input("src", DType::f32, {a.tokens, a.n_kv, a.head_dim}), {a.src_row_stride, a.src_head_stride, 1}),
             strided(output("dst", kCache, {a.n_kv, a.tokens, a.head_dim_padded}), {head_stride, a.head_dim_padded, 1})},
            {{"tokens", 1, {{"src", 0}, {"dst", 1}}, {}, {{"position", a.position}}},
             {"n_kv", 1, {{"src", 1}, {"dst", 0}}, {{"src_row_stride", a.src_row_stride}}}}};
  }

  Args bind(const Params& params, std::span<void* const> tensors) const override {
    Args args = layout(params);
    args.src = pointer<const float>(tensors, 0);
    args.dst = static_cast<decltype(args.dst)>(tensors[1]);
    if (status_of(args) == ASSAY_OK) args.dst -= args.position * args.head_dim_padded;
    return args;
  }

  AssayStatus required_status(const Params& params, const std::vector<Array>&) const override {
    return status_of(layout(params));
  }

  ShapeSpace shape_space() const override {
    return {{{"tokens", 4, 12},
             {"n_kv", 3, 5},
             {"head_dim", 80, 160},
             {"head_dim_padded", 0, 0, 1, "head_dim"},
             {"capacity", 64, 200},
             {"position", 0, 60, 1, nullptr, true},
             {"src_head_stride", 0, 0, 1, "head_dim"}},
            {}};
  }
  GeneratedCase bias_case() const override { return {}; }
  Cost cost(const Params& params) const override {
    const Args a = layout(params);
    const auto rows = static_cast<double>(a.tokens * a.n_kv);
    return {rows * (4.0 * static_cast<double>(a.head_dim) +
                    static_cast<double>(dtype_size(kCache)) * static_cast<double>(a.head_dim_padded)),
            0};
  }
  std::vector<Params> bench_params() const override {
    return {{{"tokens", 1}, {"n_kv", 8}, {"head_dim", 128}, {"capacity", 4096}, {"position", 1000}},
            {{"tokens", 512}, {"n_kv", 8}, {"head_dim", 128}, {"capacity", 4096}, {"position", 1000}}};
  }

 private:
  static Args layout(const Params& params) {
    Args a{};
    a.tokens = size_of(params, "tokens");
    a.n_kv = size_of(params, "n_kv");
    a.head_dim = size_of(params, "head_dim");
    a.head_dim_padded = bounded_or(params, "head_dim_padded", a.head_dim);
    a.capacity = size_of(params, "capacity");
    a.position = params.integer_or("position", 0);
    a.src_head_stride = stride_of(params, "src_head_stride", a.head_dim);
    a.src_row_stride = stride_of(params, "src_row_stride", a.n_kv * a.src_head_stride);
    return a;
  }
  static AssayStatus status_of(const Args& a) {
    if (a.head_dim > a.head_dim_padded) return ASSAY_BAD_SHAPE;
    return a.position < 0 || a.position > a.capacity - a.tokens ? ASSAY_OUT_OF_RANGE : ASSAY_OK;
  }
};

}  // namespace assay
