// The adapters of packing sixteen rows into one block and back differ in the format alone.
#pragma once

#include "harness/verdict/ops/blocks.h"
#include "reference/block_packing.h"

namespace assay {

template <class Op, auto kReference, DType kPacked, bool kPacks>
class PackX16Adapter final : public OpAdapter<Op, reference::kPackX16Contract, kReference> {
 public:
  using Args = typename Op::Args;

  Signature signature(const Params& params) const override {
    const std::int64_t n = size_of(params, "n");
    const std::int64_t blocks = blocks_of(kPacked, size_of(params, "k"));
    const DType plain = plain_dtype(block_format(kPacked));
    const std::vector<std::int64_t> rows{n, blocks}, tiles{weight_rows(kPacked, n), blocks};
    return {{kPacks ? input("src", plain, rows) : input("src", kPacked, tiles),
             kPacks ? output("dst", kPacked, tiles) : output("dst", plain, rows)},
            {{"n", kPackedRows, {{"src", 0, kPacks ? 1 : kPackedRows}, {"dst", 0, kPacks ? kPackedRows : 1}}, {}}}};
  }

  Args bind(const Params& params, std::span<void* const> tensors) const override {
    Args args{};
    args.src = static_cast<decltype(args.src)>(tensors[0]);
    args.dst = static_cast<decltype(args.dst)>(tensors[1]);
    args.n = params.integer("n");
    args.k = params.integer("k");
    return args;
  }

  AssayStatus required_status(const Params& params, const std::vector<Array>&) const override {
    return whole_blocks(kPacked, params.integer("k")) ? ASSAY_OK : ASSAY_BAD_SHAPE;
  }

  ShapeSpace shape_space() const override { return {{{"n", 77, 130}, {"k", 1024, 1024, dtype_numbers(kPacked)}}, {}}; }
  GeneratedCase bias_case() const override { return {}; }
  Cost cost(const Params& params) const override {
    return {2 * bytes_of(kPacked, weight_rows(kPacked, params.integer("n")) * blocks_of(kPacked, params.integer("k"))), 0};
  }
  std::vector<Params> bench_params() const override { return {{{"n", 3072}, {"k", 1024}}}; }
};

template <class Op, DType kPacked, Format kFormat>
using PackAdapter = PackX16Adapter<Op, reference::pack_x16<kFormat, typename Op::Args>, kPacked, true>;
template <class Op, DType kPacked, Format kFormat>
using UnpackAdapter = PackX16Adapter<Op, reference::unpack_x16<kFormat, typename Op::Args>, kPacked, false>;

}  // namespace assay
