// The adapters of kv_repack differ in the element's type alone. `data` is the whole buffer as rows,
// [n_kv * max(capacity_src, capacity_dst), row]: what lies past the new layout must keep its bytes.
#pragma once

#include <algorithm>

#include "harness/verdict/ops/bind.h"
#include "reference/kv.h"

namespace assay {

template <class Op, const reference::Contract& kContract, auto kReference, DType kType>
class KvRepackAdapter final : public OpAdapter<Op, kContract, kReference> {
 public:
  using Args = typename Op::Args;

  Signature signature(const Params& params) const override {
    const Args a = layout(params);
    const std::vector<std::int64_t> buffer{a.n_kv * std::max(a.capacity_src, a.capacity_dst), a.row};
    TensorSpec after = in_place(output("data", kType, buffer), "data");
    after.in_place_only = true;
    return {{input("data", kType, buffer), after}, {}};
  }

  Args bind(const Params& params, std::span<void* const> tensors) const override {
    Args args = layout(params);
    args.data = static_cast<decltype(args.data)>(tensors[0]);
    return args;
  }

  AssayStatus required_status(const Params& params, const std::vector<Array>&) const override {
    const Args a = layout(params);
    return a.positions < 0 || a.positions > std::min(a.capacity_src, a.capacity_dst) ? ASSAY_OUT_OF_RANGE : ASSAY_OK;
  }

  ShapeSpace shape_space() const override {
    return {{{"n_kv", 3, 5}, {"row", 64, 160}, {"positions", 10, 12}, {"capacity_src", 20, 60}, {"capacity_dst", 40, 60}}, {}};
  }
  GeneratedCase bias_case() const override { return {}; }
  // Rows that move are read and written; the others of the new layout are written.
  Cost cost(const Params& params) const override {
    const Args a = layout(params);
    return {static_cast<double>(dtype_size(kType)) * static_cast<double>(a.n_kv * a.row * (a.positions + a.capacity_dst)), 0};
  }
  std::vector<Params> bench_params() const override {
    return {{{"n_kv", 8}, {"row", 128}, {"positions", 1024}, {"capacity_src", 1024}, {"capacity_dst", 2048}},
            {{"n_kv", 8}, {"row", 128}, {"positions", 1024}, {"capacity_src", 2048}, {"capacity_dst", 1024}}};
  }

 private:
  static Args layout(const Params& params) {
    Args a{};
    a.n_kv = size_of(params, "n_kv");
    a.row = size_of(params, "row");
    a.positions = params.integer("positions");
    a.capacity_src = size_of(params, "capacity_src");
    a.capacity_dst = size_of(params, "capacity_dst");
    return a;
  }
};

}  // namespace assay
