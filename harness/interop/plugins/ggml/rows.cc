#include "harness/interop/plugins/ggml/graph.h"
#include "harness/interop/plugins/ggml/kernels.h"
#include "kernels/convert_bf16_f32/convert_bf16_f32.h"
#include "kernels/convert_f16_f32/convert_f16_f32.h"
#include "kernels/convert_f32_bf16/convert_f32_bf16.h"
#include "kernels/convert_f32_f16/convert_f32_f16.h"
#include "kernels/decode_q4_0/decode_q4_0.h"
#include "kernels/decode_q4_1/decode_q4_1.h"
#include "kernels/decode_q4_k/decode_q4_k.h"
#include "kernels/decode_q5_0/decode_q5_0.h"
#include "kernels/decode_q5_1/decode_q5_1.h"
#include "kernels/decode_q5_k/decode_q5_k.h"
#include "kernels/decode_q6_k/decode_q6_k.h"
#include "kernels/decode_q8_0/decode_q8_0.h"
#include "kernels/encode_q4_0/encode_q4_0.h"
#include "kernels/encode_q4_1/encode_q4_1.h"
#include "kernels/encode_q4_k/encode_q4_k.h"
#include "kernels/encode_q5_0/encode_q5_0.h"
#include "kernels/encode_q5_1/encode_q5_1.h"
#include "kernels/encode_q5_k/encode_q5_k.h"
#include "kernels/encode_q6_k/encode_q6_k.h"
#include "kernels/encode_q8_0/encode_q8_0.h"
#include "kernels/quantize_q8_0/quantize_q8_0.h"
#include "kernels/quantize_q8_k/quantize_q8_k.h"

namespace assay::plugins {
namespace {

// Weight files: the reference quantisers, as llama-quantize without an importance matrix.
template <class Op, ggml_type kType>
AssayStatus encode(const void* args) {
  const auto& call = *static_cast<const typename Op::Args*>(args);
  if (call.n < 0 || call.n % ggml_blck_size(kType) != 0) return ASSAY_BAD_SHAPE;
  if (call.n > 0) ggml_quantize_chunk(kType, call.src, call.dst, 0, 1, call.n, nullptr);
  return ASSAY_OK;
}

template <class Op, ggml_type kType>
AssayStatus decode(const void* args) {
  const auto& call = *static_cast<const typename Op::Args*>(args);
  if (call.n < 0 || call.n % ggml_blck_size(kType) != 0) return ASSAY_BAD_SHAPE;
  if (call.n > 0) ggml_get_type_traits(kType)->to_float(call.src, call.dst, call.n);
  return ASSAY_OK;
}

// Activations: what MUL_MAT runs before its dots.
template <class Op, ggml_type kType>
AssayStatus quantize(const void* args) {
  const auto& call = *static_cast<const typename Op::Args*>(args);
  if (call.k < 0 || call.k % ggml_blck_size(kType) != 0) return ASSAY_BAD_SHAPE;
  if (call.k == 0) return ASSAY_OK;
  for (std::int64_t j = 0; j < call.rows; ++j)
    ggml_get_type_traits_cpu(kType)->from_float(call.src + j * call.src_stride, call.dst + j * call.dst_stride, call.k);
  return ASSAY_OK;
}

AssayStatus to_f16(const void* args) {
  const auto& call = *static_cast<const ConvertF32F16Args*>(args);
  ggml_cpu_fp32_to_fp16(call.src, call.dst, call.n);
  return ASSAY_OK;
}
AssayStatus from_f16(const void* args) {
  const auto& call = *static_cast<const ConvertF16F32Args*>(args);
  ggml_cpu_fp16_to_fp32(call.src, call.dst, call.n);
  return ASSAY_OK;
}
AssayStatus to_bf16(const void* args) {
  const auto& call = *static_cast<const ConvertF32Bf16Args*>(args);
  ggml_cpu_fp32_to_bf16(call.src, reinterpret_cast<ggml_bf16_t*>(call.dst), call.n);
  return ASSAY_OK;
}
AssayStatus from_bf16(const void* args) {
  const auto& call = *static_cast<const ConvertBf16F32Args*>(args);
  ggml_cpu_bf16_to_fp32(reinterpret_cast<const ggml_bf16_t*>(call.src), call.dst, call.n);
  return ASSAY_OK;
}

}  // namespace

void append_rows(std::vector<AssayPluginKernel>& kernels) {
  kernels.insert(kernels.end(), {
                                    plain_kernel("encode_q4_0", "quantize_q4_0", encode<EncodeQ40, GGML_TYPE_Q4_0>),
                                    plain_kernel("encode_q4_1", "quantize_q4_1", encode<EncodeQ41, GGML_TYPE_Q4_1>),
                                    plain_kernel("encode_q5_0", "quantize_q5_0", encode<EncodeQ50, GGML_TYPE_Q5_0>),
                                    plain_kernel("encode_q5_1", "quantize_q5_1", encode<EncodeQ51, GGML_TYPE_Q5_1>),
                                    plain_kernel("encode_q8_0", "quantize_q8_0", encode<EncodeQ80, GGML_TYPE_Q8_0>),
                                    plain_kernel("encode_q4_k", "quantize_q4_k", encode<EncodeQ4K, GGML_TYPE_Q4_K>),
                                    plain_kernel("encode_q5_k", "quantize_q5_k", encode<EncodeQ5K, GGML_TYPE_Q5_K>),
                                    plain_kernel("encode_q6_k", "quantize_q6_k", encode<EncodeQ6K, GGML_TYPE_Q6_K>),
                                    plain_kernel("decode_q4_0", "to_float_q4_0", decode<DecodeQ40, GGML_TYPE_Q4_0>),
                                    plain_kernel("decode_q4_1", "to_float_q4_1", decode<DecodeQ41, GGML_TYPE_Q4_1>),
                                    plain_kernel("decode_q5_0", "to_float_q5_0", decode<DecodeQ50, GGML_TYPE_Q5_0>),
                                    plain_kernel("decode_q5_1", "to_float_q5_1", decode<DecodeQ51, GGML_TYPE_Q5_1>),
                                    plain_kernel("decode_q8_0", "to_float_q8_0", decode<DecodeQ80, GGML_TYPE_Q8_0>),
                                    plain_kernel("decode_q4_k", "to_float_q4_k", decode<DecodeQ4K, GGML_TYPE_Q4_K>),
                                    plain_kernel("decode_q5_k", "to_float_q5_k", decode<DecodeQ5K, GGML_TYPE_Q5_K>),
                                    plain_kernel("decode_q6_k", "to_float_q6_k", decode<DecodeQ6K, GGML_TYPE_Q6_K>),
                                    plain_kernel("quantize_q8_0", "from_float_q8_0", quantize<QuantizeQ80, GGML_TYPE_Q8_0>),
                                    plain_kernel("quantize_q8_k", "from_float_q8_k", quantize<QuantizeQ8K, GGML_TYPE_Q8_K>),
                                    plain_kernel("convert_f32_f16", "cpu_fp32_to_fp16", to_f16),
                                    plain_kernel("convert_f16_f32", "cpu_fp16_to_fp32", from_f16),
                                    plain_kernel("convert_f32_bf16", "cpu_fp32_to_bf16", to_bf16),
                                    plain_kernel("convert_bf16_f32", "cpu_bf16_to_fp32", from_bf16),
                                });
}

}  // namespace assay::plugins
