// The adapters of the encoders and decoders differ in the format alone.
#pragma once

#include "harness/verdict/ops/blocks.h"
#include "reference/decode_blocks.h"
#include "reference/encode.h"
#include "reference/encode_k.h"

namespace assay {

// n floats to n / 32 or n / 256 blocks (encode) or back.
template <class Op, const reference::Contract& kContract, auto kReference, Format kFormat, bool kEncodes>
class CodecAdapter final : public OpAdapter<Op, kContract, kReference> {
 public:
  using Args = typename Op::Args;

  Signature signature(const Params& params) const override {
    const std::int64_t n = size_of(params, "n");
    const std::int64_t unit = dtype_numbers(block());
    const std::vector<std::int64_t> blocks{blocks_of(block(), n)};
    const std::int64_t src_rows = kEncodes ? 1 : unit, dst_rows = kEncodes ? unit : 1;
    return {{kEncodes ? input("src", DType::f32, {n}) : input("src", block(), blocks),
             kEncodes ? output("dst", block(), blocks) : output("dst", DType::f32, {n})},
            {{"n", unit, {{"src", 0, src_rows}, {"dst", 0, dst_rows}}, {}}}};
  }

  Args bind(const Params& params, std::span<void* const> tensors) const override {
    Args args{};
    args.src = static_cast<decltype(args.src)>(tensors[0]);
    args.dst = static_cast<decltype(args.dst)>(tensors[1]);
    args.n = params.integer("n");
    return args;
  }

  AssayStatus required_status(const Params& params, const std::vector<Array>& inputs) const override {
    const std::int64_t n = params.integer("n");
    if (!whole_blocks(block(), n)) return ASSAY_BAD_SHAPE;
    return kEncodes ? reference::encode_status(kFormat, inputs[0].as<float>(), n) : ASSAY_OK;
  }

  ShapeSpace shape_space() const override { return {{{"n", 1024, 3000, dtype_numbers(block())}}, {}}; }
  GeneratedCase bias_case() const override { return {}; }
  Cost cost(const Params& params) const override {
    const std::int64_t n = params.integer("n");
    return {4 * static_cast<double>(n) + bytes_of(block(), blocks_of(block(), n)), 0};
  }
  std::vector<Params> bench_params() const override { return {{{"n", 1024 * 1024}}}; }

 private:
  static DType block() { return plain_dtype(kFormat); }
};

template <class Op, Format kFormat>
using EncodeAdapter =
    CodecAdapter<Op, reference::kEncodeContract, reference::encode_blocks<kFormat, typename Op::Args>, kFormat, true>;
template <class Op, Format kFormat>
using EncodeKAdapter =
    CodecAdapter<Op, reference::kEncodeKContract, reference::encode_k_blocks<kFormat, typename Op::Args>, kFormat, true>;
template <class Op, Format kFormat>
using DecodeAdapter =
    CodecAdapter<Op, reference::kDecodeContract, reference::decode_blocks<kFormat, typename Op::Args>, kFormat, false>;

}  // namespace assay
