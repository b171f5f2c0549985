// The ops' references in the place of kernels: truth in fp64, rounded once to what the op writes. Rows and gaps are those of the
// arguments; what a kernel would refuse, they refuse too. They allocate, and may throw std::bad_alloc.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/abi.h"
#include "kernels/add/add.h"
#include "kernels/attn_decode_f16/attn_decode_f16.h"
#include "kernels/attn_decode_f32/attn_decode_f32.h"
#include "kernels/attn_prefill_f16/attn_prefill_f16.h"
#include "kernels/attn_prefill_f32/attn_prefill_f32.h"
#include "kernels/decode_q4_0/decode_q4_0.h"
#include "kernels/decode_q4_1/decode_q4_1.h"
#include "kernels/decode_q4_k/decode_q4_k.h"
#include "kernels/decode_q5_0/decode_q5_0.h"
#include "kernels/decode_q5_1/decode_q5_1.h"
#include "kernels/decode_q5_k/decode_q5_k.h"
#include "kernels/decode_q6_k/decode_q6_k.h"
#include "kernels/decode_q8_0/decode_q8_0.h"
#include "kernels/embed_bf16/embed_bf16.h"
#include "kernels/embed_f16/embed_f16.h"
#include "kernels/embed_f32/embed_f32.h"
#include "kernels/gemm_bf16/gemm_bf16.h"
#include "kernels/gemm_f16/gemm_f16.h"
#include "kernels/gemm_f32/gemm_f32.h"
#include "kernels/gemm_q4_0_q8_0/gemm_q4_0_q8_0.h"
#include "kernels/gemm_q4_k_x16_q8_k/gemm_q4_k_x16_q8_k.h"
#include "kernels/gemm_q5_0_q8_0/gemm_q5_0_q8_0.h"
#include "kernels/gemm_q5_k_q8_k/gemm_q5_k_q8_k.h"
#include "kernels/gemm_q6_k_x16_q8_k/gemm_q6_k_x16_q8_k.h"
#include "kernels/gemm_q8_0_x16_q8_0/gemm_q8_0_x16_q8_0.h"
#include "kernels/gemv_q4_0_q8_0/gemv_q4_0_q8_0.h"
#include "kernels/gemv_q4_k_x16_q8_k/gemv_q4_k_x16_q8_k.h"
#include "kernels/gemv_q5_0_q8_0/gemv_q5_0_q8_0.h"
#include "kernels/gemv_q5_k_q8_k/gemv_q5_k_q8_k.h"
#include "kernels/gemv_q6_k_x16_q8_k/gemv_q6_k_x16_q8_k.h"
#include "kernels/gemv_q8_0_x16_q8_0/gemv_q8_0_x16_q8_0.h"
#include "kernels/kv_store_f16/kv_store_f16.h"
#include "kernels/kv_store_f32/kv_store_f32.h"
#include "kernels/linear_q4_0/linear_q4_0.h"
#include "kernels/linear_q4_k/linear_q4_k.h"
#include "kernels/linear_q5_0/linear_q5_0.h"
#include "kernels/linear_q5_k/linear_q5_k.h"
#include "kernels/linear_q6_k/linear_q6_k.h"
#include "kernels/linear_q8_0/linear_q8_0.h"
#include "kernels/matvec_bf16/matvec_bf16.h"
#include "kernels/matvec_f16/matvec_f16.h"
#include "kernels/matvec_f32/matvec_f32.h"
#include "kernels/quantize_q8_0/quantize_q8_0.h"
#include "kernels/quantize_q8_k/quantize_q8_k.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/rope/rope.h"
#include "kernels/rope_table/rope_table.h"
#include "kernels/swiglu/swiglu.h"

namespace assay {

// Keeps truth and bound of f32 outputs, which the rounded output loses. Element i belongs to the float at base + i; outputs of
// other types are exact, and not kept.
struct ReferenceSink {
  const float* base = nullptr;
  std::vector<double> value;
  std::vector<double> bound;
  std::vector<std::uint8_t> bits_only;  // 1 where no bound holds

  // For `count` floats from `first` on.
  void reset(const float* first, std::int64_t count);
};

// `sink` may be null. Distinct outputs may be filled by several threads at once.
AssayStatus run_reference(const AddArgs& args, ReferenceSink* sink);
AssayStatus run_reference(const AttnDecodeF16Args& args, ReferenceSink* sink);
AssayStatus run_reference(const AttnDecodeF32Args& args, ReferenceSink* sink);
AssayStatus run_reference(const AttnPrefillF16Args& args, ReferenceSink* sink);
AssayStatus run_reference(const AttnPrefillF32Args& args, ReferenceSink* sink);
AssayStatus run_reference(const DecodeQ40Args& args, ReferenceSink* sink);
AssayStatus run_reference(const DecodeQ41Args& args, ReferenceSink* sink);
AssayStatus run_reference(const DecodeQ4KArgs& args, ReferenceSink* sink);
AssayStatus run_reference(const DecodeQ50Args& args, ReferenceSink* sink);
AssayStatus run_reference(const DecodeQ51Args& args, ReferenceSink* sink);
AssayStatus run_reference(const DecodeQ5KArgs& args, ReferenceSink* sink);
AssayStatus run_reference(const DecodeQ6KArgs& args, ReferenceSink* sink);
AssayStatus run_reference(const DecodeQ80Args& args, ReferenceSink* sink);
AssayStatus run_reference(const EmbedBf16Args& args, ReferenceSink* sink);
AssayStatus run_reference(const EmbedF16Args& args, ReferenceSink* sink);
AssayStatus run_reference(const EmbedF32Args& args, ReferenceSink* sink);
AssayStatus run_reference(const GemmBf16Args& args, ReferenceSink* sink);
AssayStatus run_reference(const GemmF16Args& args, ReferenceSink* sink);
AssayStatus run_reference(const GemmF32Args& args, ReferenceSink* sink);
AssayStatus run_reference(const GemmQ40Q80Args& args, ReferenceSink* sink);
AssayStatus run_reference(const GemmQ4KX16Q8KArgs& args, ReferenceSink* sink);
AssayStatus run_reference(const GemmQ50Q80Args& args, ReferenceSink* sink);
AssayStatus run_reference(const GemmQ5KQ8KArgs& args, ReferenceSink* sink);
AssayStatus run_reference(const GemmQ6KX16Q8KArgs& args, ReferenceSink* sink);
AssayStatus run_reference(const GemmQ80X16Q80Args& args, ReferenceSink* sink);
AssayStatus run_reference(const GemvQ40Q80Args& args, ReferenceSink* sink);
AssayStatus run_reference(const GemvQ4KX16Q8KArgs& args, ReferenceSink* sink);
AssayStatus run_reference(const GemvQ50Q80Args& args, ReferenceSink* sink);
AssayStatus run_reference(const GemvQ5KQ8KArgs& args, ReferenceSink* sink);
AssayStatus run_reference(const GemvQ6KX16Q8KArgs& args, ReferenceSink* sink);
AssayStatus run_reference(const GemvQ80X16Q80Args& args, ReferenceSink* sink);
AssayStatus run_reference(const KvStoreF16Args& args, ReferenceSink* sink);
AssayStatus run_reference(const KvStoreF32Args& args, ReferenceSink* sink);
AssayStatus run_reference(const LinearQ40Args& args, ReferenceSink* sink);
AssayStatus run_reference(const LinearQ50Args& args, ReferenceSink* sink);
AssayStatus run_reference(const LinearQ80Args& args, ReferenceSink* sink);
AssayStatus run_reference(const LinearQ4KArgs& args, ReferenceSink* sink);
AssayStatus run_reference(const LinearQ5KArgs& args, ReferenceSink* sink);
AssayStatus run_reference(const LinearQ6KArgs& args, ReferenceSink* sink);
AssayStatus run_reference(const MatvecBf16Args& args, ReferenceSink* sink);
AssayStatus run_reference(const MatvecF16Args& args, ReferenceSink* sink);
AssayStatus run_reference(const MatvecF32Args& args, ReferenceSink* sink);
AssayStatus run_reference(const QuantizeQ80Args& args, ReferenceSink* sink);
AssayStatus run_reference(const QuantizeQ8KArgs& args, ReferenceSink* sink);
AssayStatus run_reference(const RmsNormArgs& args, ReferenceSink* sink);
AssayStatus run_reference(const RopeArgs& args, ReferenceSink* sink);
AssayStatus run_reference(const RopeTableArgs& args, ReferenceSink* sink);
AssayStatus run_reference(const SwigluArgs& args, ReferenceSink* sink);

}  // namespace assay
