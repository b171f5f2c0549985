#include "engine/run/reference_calls.h"

#include <cstring>
#include <stdexcept>

#include "reference/attention.h"
#include "reference/block_dot.h"
#include "reference/decode_blocks.h"
#include "reference/elementwise.h"
#include "reference/embed.h"
#include "reference/encode.h"
#include "reference/kv.h"
#include "reference/linear.h"
#include "reference/matvec.h"
#include "reference/rms_norm.h"
#include "reference/rope.h"

namespace assay {
namespace {

using reference::Expected;
using reference::Format;

// Element `index` of a bounded output to `y`.
void put(const Expected& expected, std::int64_t index, float* y, ReferenceSink* sink) {
  const auto i = static_cast<std::size_t>(index);
  *y = static_cast<float>(expected.value[i]);
  if (sink == nullptr) return;
  const auto at = static_cast<std::size_t>(y - sink->base);
  sink->value[at] = expected.value[i];
  sink->bound[at] = expected.bound[i];
  sink->bits_only[at] = expected.bits_only.empty() ? 0 : expected.bits_only[i];
}

void put_rows(const Expected& expected, float* y, std::int64_t rows, std::int64_t n, std::int64_t stride, ReferenceSink* sink) {
  for (std::int64_t j = 0; j < rows; ++j) {
    for (std::int64_t i = 0; i < n; ++i) put(expected, j * n + i, y + j * stride + i, sink);
  }
}

// [rows, heads, n] with a stride each.
void put_heads(const Expected& expected, float* y, std::int64_t rows, std::int64_t row_stride, std::int64_t heads, std::int64_t n,
               std::int64_t head_stride, ReferenceSink* sink) {
  for (std::int64_t j = 0; j < rows; ++j) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t i = 0; i < n; ++i) put(expected, (j * heads + h) * n + i, y + j * row_stride + h * head_stride + i, sink);
    }
  }
}

void put_bytes(const Expected& expected, void* y, std::int64_t rows, std::size_t row_bytes, std::size_t stride_bytes) {
  for (std::int64_t j = 0; j < rows; ++j) {
    const auto row = static_cast<std::size_t>(j);
    std::memcpy(static_cast<char*>(y) + row * stride_bytes, expected.bytes.data() + row * row_bytes, row_bytes);
  }
}

// References refuse by std::invalid_argument what kernels refuse by a status.
template <class Function>
AssayStatus guarded(Function function) {
  try {
    function();
    return ASSAY_OK;
  } catch (const std::invalid_argument&) {
    return ASSAY_BAD_PARAMETER;
  }
}

template <class Args>
AssayStatus bounded_rows(const Args& args, void (*truth)(const Args&, Expected&), ReferenceSink* sink) {
  Expected y;
  return guarded([&] {
    truth(args, y);
    if constexpr (requires { args.m; }) {
      put_rows(y, args.y, args.m, args.n, args.y_stride, sink);
    } else if constexpr (requires { args.rows; }) {
      put_rows(y, args.y, args.rows, args.n, args.y_stride, sink);
    } else {
      put_rows(y, args.y, 1, args.n, args.n, sink);
    }
  });
}

template <class Args>
AssayStatus attend_truth(const Args& args, void (*truth)(const Args&, Expected&), ReferenceSink* sink) {
  Expected y;
  return guarded([&] {
    truth(args, y);
    if constexpr (requires { args.rows; }) {
      put_heads(y, args.y, args.rows, args.y_row_stride, args.n_heads, args.head_dim, args.y_head_stride, sink);
    } else {
      put_heads(y, args.y, 1, 0, args.n_heads, args.head_dim, args.y_head_stride, sink);
    }
  });
}

template <class Args>
AssayStatus look_up(const Args& args, void (*truth)(const Args&, Expected&)) {
  Expected y;
  return guarded([&] {
    truth(args, y);
    const std::size_t row = static_cast<std::size_t>(args.n) * sizeof(float);
    put_bytes(y, args.y, args.rows, row, static_cast<std::size_t>(args.y_stride) * sizeof(float));
  });
}

template <Format kFormat, class Args>
AssayStatus decode_row(const Args& args) {
  if (args.n % reference::info(kFormat).elements != 0) return ASSAY_BAD_SHAPE;
  Expected dst;
  reference::decode_blocks<kFormat>(args, dst);
  put_bytes(dst, args.dst, 1, dst.bytes.size(), dst.bytes.size());
  return ASSAY_OK;
}

template <Format kFormat, class Args>
AssayStatus quantize(const Args& args) {
  const reference::FormatInfo& format = reference::info(kFormat);
  if (args.k < 0 || args.k % format.elements != 0) return ASSAY_BAD_SHAPE;
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const AssayStatus status = reference::encode_status(kFormat, args.src + row * args.src_stride, args.k);
    if (status != ASSAY_OK) return status;
  }
  Expected dst;
  reference::quantize_rows<kFormat>(args, dst);
  const auto block = static_cast<std::size_t>(format.bytes);
  put_bytes(dst, args.dst, args.rows, static_cast<std::size_t>(args.k / format.elements) * block,
            static_cast<std::size_t>(args.dst_stride) * block);
  return ASSAY_OK;
}

template <Format kWeight, Format kX, bool kPacked, class Args>
AssayStatus block_product(const Args& args, ReferenceSink* sink) {
  return bounded_rows<Args>(args, reference::block_dot<kWeight, kX, kPacked, Args>, sink);
}

template <Format kWeight, Format kX, class Args>
AssayStatus quantised_product(const Args& args, ReferenceSink* sink) {
  const AssayStatus status = reference::linear_status(reference::linear_call<kWeight, kX>(args));
  return status == ASSAY_OK ? bounded_rows<Args>(args, reference::linear<kWeight, kX, Args>, sink) : status;
}

template <class Args>
AssayStatus store_truth(const Args& args, void (*truth)(const Args&, Expected&)) {
  Expected dst;
  return guarded([&] {
    truth(args, dst);
    const std::size_t row = static_cast<std::size_t>(args.head_dim_padded) * sizeof(*args.dst);
    const std::size_t head = static_cast<std::size_t>(args.tokens) * row;
    put_bytes(dst, args.dst + args.position * args.head_dim_padded, args.n_kv, head,
              static_cast<std::size_t>(args.capacity) * row);
  });
}

}  // namespace

void ReferenceSink::reset(const float* first, std::int64_t count) {
  base = first;
  value.assign(static_cast<std::size_t>(count), 0);
  bound.assign(static_cast<std::size_t>(count), 0);
  bits_only.assign(static_cast<std::size_t>(count), 0);
}

AssayStatus run_reference(const AddArgs& args, ReferenceSink* sink) {
  return bounded_rows(args, reference::add, sink);
}
AssayStatus run_reference(const RmsNormArgs& args, ReferenceSink* sink) {
  return bounded_rows(args, reference::rms_norm, sink);
}
AssayStatus run_reference(const SwigluArgs& args, ReferenceSink* sink) {
  return bounded_rows(args, reference::swiglu, sink);
}

AssayStatus run_reference(const RopeArgs& args, ReferenceSink* sink) {
  Expected y;
  return guarded([&] {
    reference::rope(args, y);
    put_heads(y, args.y, args.rows, args.y_row_stride, args.heads, args.head_dim, args.y_head_stride, sink);
  });
}

AssayStatus run_reference(const RopeTableArgs& args, ReferenceSink* sink) {
  Expected cos;
  Expected sin;
  return guarded([&] {
    reference::rope_table(args, cos, sin);
    put_rows(cos, args.cos, args.rows, args.pairs, args.table_stride, sink);
    put_rows(sin, args.sin, args.rows, args.pairs, args.table_stride, sink);
  });
}

AssayStatus run_reference(const AttnDecodeF16Args& args, ReferenceSink* sink) {
  return attend_truth(args, reference::attn_decode_f16, sink);
}
AssayStatus run_reference(const AttnDecodeF32Args& args, ReferenceSink* sink) {
  return attend_truth(args, reference::attn_decode_f32, sink);
}
AssayStatus run_reference(const AttnPrefillF16Args& args, ReferenceSink* sink) {
  return attend_truth(args, reference::attn_prefill_f16, sink);
}
AssayStatus run_reference(const AttnPrefillF32Args& args, ReferenceSink* sink) {
  return attend_truth(args, reference::attn_prefill_f32, sink);
}

AssayStatus run_reference(const EmbedBf16Args& args, ReferenceSink*) {
  return look_up(args, reference::embed_bf16);
}
AssayStatus run_reference(const EmbedF16Args& args, ReferenceSink*) {
  return look_up(args, reference::embed_f16);
}
AssayStatus run_reference(const EmbedF32Args& args, ReferenceSink*) {
  return look_up(args, reference::embed_f32);
}

AssayStatus run_reference(const DecodeQ40Args& args, ReferenceSink*) {
  return decode_row<Format::q4_0>(args);
}
AssayStatus run_reference(const DecodeQ41Args& args, ReferenceSink*) {
  return decode_row<Format::q4_1>(args);
}
AssayStatus run_reference(const DecodeQ4KArgs& args, ReferenceSink*) {
  return decode_row<Format::q4_k>(args);
}
AssayStatus run_reference(const DecodeQ50Args& args, ReferenceSink*) {
  return decode_row<Format::q5_0>(args);
}
AssayStatus run_reference(const DecodeQ51Args& args, ReferenceSink*) {
  return decode_row<Format::q5_1>(args);
}
AssayStatus run_reference(const DecodeQ5KArgs& args, ReferenceSink*) {
  return decode_row<Format::q5_k>(args);
}
AssayStatus run_reference(const DecodeQ6KArgs& args, ReferenceSink*) {
  return decode_row<Format::q6_k>(args);
}
AssayStatus run_reference(const DecodeQ80Args& args, ReferenceSink*) {
  return decode_row<Format::q8_0>(args);
}

AssayStatus run_reference(const QuantizeQ80Args& args, ReferenceSink*) {
  return quantize<Format::q8_0>(args);
}
AssayStatus run_reference(const QuantizeQ8KArgs& args, ReferenceSink*) {
  return quantize<Format::q8_k>(args);
}

AssayStatus run_reference(const MatvecBf16Args& args, ReferenceSink* sink) {
  return bounded_rows(args, reference::matvec_bf16, sink);
}
AssayStatus run_reference(const MatvecF16Args& args, ReferenceSink* sink) {
  return bounded_rows(args, reference::matvec_f16, sink);
}
AssayStatus run_reference(const MatvecF32Args& args, ReferenceSink* sink) {
  return bounded_rows(args, reference::matvec_f32, sink);
}
AssayStatus run_reference(const GemmBf16Args& args, ReferenceSink* sink) {
  return bounded_rows(args, reference::gemm_bf16, sink);
}
AssayStatus run_reference(const GemmF16Args& args, ReferenceSink* sink) {
  return bounded_rows(args, reference::gemm_f16, sink);
}
AssayStatus run_reference(const GemmF32Args& args, ReferenceSink* sink) {
  return bounded_rows(args, reference::gemm_f32, sink);
}

AssayStatus run_reference(const GemvQ40Q80Args& args, ReferenceSink* sink) {
  return block_product<Format::q4_0, Format::q8_0, false>(args, sink);
}
AssayStatus run_reference(const GemmQ40Q80Args& args, ReferenceSink* sink) {
  return block_product<Format::q4_0, Format::q8_0, false>(args, sink);
}
AssayStatus run_reference(const GemvQ50Q80Args& args, ReferenceSink* sink) {
  return block_product<Format::q5_0, Format::q8_0, false>(args, sink);
}
AssayStatus run_reference(const GemmQ50Q80Args& args, ReferenceSink* sink) {
  return block_product<Format::q5_0, Format::q8_0, false>(args, sink);
}
AssayStatus run_reference(const GemvQ80X16Q80Args& args, ReferenceSink* sink) {
  return block_product<Format::q8_0, Format::q8_0, true>(args, sink);
}
AssayStatus run_reference(const GemmQ80X16Q80Args& args, ReferenceSink* sink) {
  return block_product<Format::q8_0, Format::q8_0, true>(args, sink);
}
AssayStatus run_reference(const GemvQ4KX16Q8KArgs& args, ReferenceSink* sink) {
  return block_product<Format::q4_k, Format::q8_k, true>(args, sink);
}
AssayStatus run_reference(const GemmQ4KX16Q8KArgs& args, ReferenceSink* sink) {
  return block_product<Format::q4_k, Format::q8_k, true>(args, sink);
}
AssayStatus run_reference(const GemvQ5KQ8KArgs& args, ReferenceSink* sink) {
  return block_product<Format::q5_k, Format::q8_k, false>(args, sink);
}
AssayStatus run_reference(const GemmQ5KQ8KArgs& args, ReferenceSink* sink) {
  return block_product<Format::q5_k, Format::q8_k, false>(args, sink);
}
AssayStatus run_reference(const GemvQ6KX16Q8KArgs& args, ReferenceSink* sink) {
  return block_product<Format::q6_k, Format::q8_k, true>(args, sink);
}
AssayStatus run_reference(const GemmQ6KX16Q8KArgs& args, ReferenceSink* sink) {
  return block_product<Format::q6_k, Format::q8_k, true>(args, sink);
}

AssayStatus run_reference(const LinearQ40Args& args, ReferenceSink* sink) {
  return quantised_product<Format::q4_0, Format::q8_0>(args, sink);
}
AssayStatus run_reference(const LinearQ50Args& args, ReferenceSink* sink) {
  return quantised_product<Format::q5_0, Format::q8_0>(args, sink);
}
AssayStatus run_reference(const LinearQ80Args& args, ReferenceSink* sink) {
  return quantised_product<Format::q8_0, Format::q8_0>(args, sink);
}
AssayStatus run_reference(const LinearQ4KArgs& args, ReferenceSink* sink) {
  return quantised_product<Format::q4_k, Format::q8_k>(args, sink);
}
AssayStatus run_reference(const LinearQ5KArgs& args, ReferenceSink* sink) {
  return quantised_product<Format::q5_k, Format::q8_k>(args, sink);
}
AssayStatus run_reference(const LinearQ6KArgs& args, ReferenceSink* sink) {
  return quantised_product<Format::q6_k, Format::q8_k>(args, sink);
}

AssayStatus run_reference(const KvStoreF16Args& args, ReferenceSink*) {
  return store_truth(args, reference::kv_store_f16);
}
AssayStatus run_reference(const KvStoreF32Args& args, ReferenceSink*) {
  return store_truth(args, reference::kv_store_f32);
}

}  // namespace assay
