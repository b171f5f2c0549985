#include "harness/interop/plugins/ggml/graph.h"
#include "harness/interop/plugins/ggml/kernels.h"
#include "kernels/codecs/codecs.h"
#include "kernels/conversions/conversions.h"

namespace assay::plugins {
namespace {

const float* floats(const void* data) {
  return static_cast<const float*>(data);
}

// Weight files: the reference quantisers, as llama-quantize without an importance matrix.
template <ggml_type kType>
AssayStatus encode(const void* args) {
  const auto& call = *static_cast<const CodecArgs*>(args);
  if (!sizes_fit(call)) return ASSAY_BAD_SHAPE;
  if (call.rows != 1 || call.k % ggml_blck_size(kType) != 0) return ASSAY_BAD_SHAPE;
  if (call.k > 0) ggml_quantize_chunk(kType, floats(call.src), call.dst, 0, 1, call.k, nullptr);
  return ASSAY_OK;
}

template <ggml_type kType>
AssayStatus decode(const void* args) {
  const auto& call = *static_cast<const CodecArgs*>(args);
  if (!sizes_fit(call)) return ASSAY_BAD_SHAPE;
  if (call.rows != 1 || call.k % ggml_blck_size(kType) != 0) return ASSAY_BAD_SHAPE;
  if (call.k > 0) ggml_get_type_traits(kType)->to_float(call.src, static_cast<float*>(call.dst), call.k);
  return ASSAY_OK;
}

// Activations: what MUL_MAT runs before its dots.
template <ggml_type kType>
AssayStatus quantize(const void* args) {
  const auto& call = *static_cast<const CodecArgs*>(args);
  if (!sizes_fit(call)) return ASSAY_BAD_SHAPE;
  if (call.k % ggml_blck_size(kType) != 0) return ASSAY_BAD_SHAPE;
  if (call.k == 0) return ASSAY_OK;
  const std::size_t block = ggml_type_size(kType);
  for (std::int64_t j = 0; j < call.rows; ++j) {
    std::byte* const to = static_cast<std::byte*>(call.dst) + static_cast<std::size_t>(j * call.dst_stride) * block;
    ggml_get_type_traits_cpu(kType)->from_float(floats(call.src) + j * call.src_stride, to, call.k);
  }
  return ASSAY_OK;
}

template <auto kConvert, class From, class To>
AssayStatus convert(const void* args) {
  const auto& call = *static_cast<const ConvertArgs*>(args);
  if (!sizes_fit(call)) return ASSAY_BAD_SHAPE;
  kConvert(static_cast<const From*>(call.src), static_cast<To*>(call.dst), call.n);
  return ASSAY_OK;
}

}  // namespace

void append_rows(std::vector<AssayPluginKernel>& kernels) {
  kernels.insert(kernels.end(),
                 {
                     plain_kernel("encode_q4_0", "quantize_q4_0", encode<GGML_TYPE_Q4_0>),
                     plain_kernel("encode_q4_1", "quantize_q4_1", encode<GGML_TYPE_Q4_1>),
                     plain_kernel("encode_q5_0", "quantize_q5_0", encode<GGML_TYPE_Q5_0>),
                     plain_kernel("encode_q5_1", "quantize_q5_1", encode<GGML_TYPE_Q5_1>),
                     plain_kernel("encode_q8_0", "quantize_q8_0", encode<GGML_TYPE_Q8_0>),
                     plain_kernel("encode_q4_k", "quantize_q4_k", encode<GGML_TYPE_Q4_K>),
                     plain_kernel("encode_q5_k", "quantize_q5_k", encode<GGML_TYPE_Q5_K>),
                     plain_kernel("encode_q6_k", "quantize_q6_k", encode<GGML_TYPE_Q6_K>),
                     plain_kernel("decode_q4_0", "to_float_q4_0", decode<GGML_TYPE_Q4_0>),
                     plain_kernel("decode_q4_1", "to_float_q4_1", decode<GGML_TYPE_Q4_1>),
                     plain_kernel("decode_q5_0", "to_float_q5_0", decode<GGML_TYPE_Q5_0>),
                     plain_kernel("decode_q5_1", "to_float_q5_1", decode<GGML_TYPE_Q5_1>),
                     plain_kernel("decode_q8_0", "to_float_q8_0", decode<GGML_TYPE_Q8_0>),
                     plain_kernel("decode_q4_k", "to_float_q4_k", decode<GGML_TYPE_Q4_K>),
                     plain_kernel("decode_q5_k", "to_float_q5_k", decode<GGML_TYPE_Q5_K>),
                     plain_kernel("decode_q6_k", "to_float_q6_k", decode<GGML_TYPE_Q6_K>),
                     plain_kernel("quantize_q8_0", "from_float_q8_0", quantize<GGML_TYPE_Q8_0>),
                     plain_kernel("quantize_q8_k", "from_float_q8_k", quantize<GGML_TYPE_Q8_K>),
                     plain_kernel("convert_f32_f16", "cpu_fp32_to_fp16", convert<ggml_cpu_fp32_to_fp16, float, ggml_fp16_t>),
                     plain_kernel("convert_f16_f32", "cpu_fp16_to_fp32", convert<ggml_cpu_fp16_to_fp32, ggml_fp16_t, float>),
                     plain_kernel("convert_f32_bf16", "cpu_fp32_to_bf16", convert<ggml_cpu_fp32_to_bf16, float, ggml_bf16_t>),
                     plain_kernel("convert_bf16_f32", "cpu_bf16_to_fp32", convert<ggml_cpu_bf16_to_fp32, ggml_bf16_t, float>),
                 });
}

}  // namespace assay::plugins
