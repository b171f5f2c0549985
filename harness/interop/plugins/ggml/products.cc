#include "harness/interop/plugins/ggml/graph.h"
#include "harness/interop/plugins/ggml/kernels.h"
#include "harness/interop/plugins/tile_major.h"

namespace assay::plugins {
namespace {

// Row by row, as MUL_MAT does it between quantised rows.
template <ggml_type kType>
AssayStatus vec_dot(const void* args) {
  const auto& call = *static_cast<const ProductArgs*>(args);
  if (!sizes_fit(call)) return ASSAY_BAD_SHAPE;
  if (call.m != 1 || call.k % ggml_blck_size(kType) != 0) return ASSAY_BAD_SHAPE;
  const std::size_t row_bytes = ggml_row_size(kType, call.k);
  const ggml_vec_dot_t dot = ggml_get_type_traits_cpu(kType)->vec_dot;
  const auto* row = static_cast<const std::byte*>(call.w);
  for (std::int64_t i = 0; i < call.n; ++i, row += row_bytes) dot(static_cast<int>(call.k), call.y + i, 0, row, 0, call.x, 0, 1);
  return ASSAY_OK;
}

// The strides of one row count for nothing.
template <ggml_type kType>
AssayStatus mul_mat(const void* args) {
  ProductArgs s = *static_cast<const ProductArgs*>(args);
  if (!sizes_fit(s)) return ASSAY_BAD_SHAPE;
  if (s.m == 1) {
    s.x_stride = s.k;
    s.y_stride = s.n;
  }
  if (s.k % ggml_blck_size(kType) != 0 || (ggml_is_quantized(kType) && s.k > ASSAY_LINEAR_MOST_COLUMNS)) return ASSAY_BAD_SHAPE;
  if (s.k == 0) {  // a tensor of ggml has at least one element
    for (std::int64_t j = 0; j < s.m; ++j)
      for (std::int64_t i = 0; i < s.n; ++i) s.y[j * s.y_stride + i] = 0.0F;
    return ASSAY_OK;
  }
  if (s.m == 0 || s.n == 0) return ASSAY_OK;
  constexpr std::int64_t kFloat = sizeof(float);
  const Graph graph;
  ggml_tensor* const w = graph.wrap(kType, s.k, s.n, s.w);
  ggml_tensor* const x = graph.wrap(GGML_TYPE_F32, s.k, s.m, s.x, s.x_stride * kFloat);
  return done(graph.compute(Graph::into(ggml_mul_mat(graph.context(), w, x), s.y, s.y_stride * kFloat)));
}

template <ggml_type kType>
AssayStatus mul_vec(const void* args) {
  return one_row(*static_cast<const ProductArgs*>(args)) ? mul_mat<kType>(args) : ASSAY_BAD_SHAPE;
}

// Tile-major weights: plain rows are the plugin's own layout.
template <class Element>
AssayPluginKernel tiled(const char* op, const char* name, AssayStatus (*run)(const void*)) {
  return {sizeof(AssayPluginKernel), ASSAY_CLAIM_BOUNDED, op,  name,       "scalar", "w",
          plain_bytes<Element>,      pack_plain<Element>, run, kProperties};
}

}  // namespace

void append_products(std::vector<AssayPluginKernel>& kernels) {
  kernels.insert(kernels.end(), {
                                    plain_kernel("gemv_q4_0_q8_0", "vec_dot_q4_0", vec_dot<GGML_TYPE_Q4_0>),
                                    plain_kernel("gemv_q5_0_q8_0", "vec_dot_q5_0", vec_dot<GGML_TYPE_Q5_0>),
                                    plain_kernel("gemv_q8_0_q8_0", "vec_dot_q8_0", vec_dot<GGML_TYPE_Q8_0>),
                                    plain_kernel("gemv_q4_k_q8_k", "vec_dot_q4_k", vec_dot<GGML_TYPE_Q4_K>),
                                    plain_kernel("gemv_q5_k_q8_k", "vec_dot_q5_k", vec_dot<GGML_TYPE_Q5_K>),
                                    plain_kernel("gemv_q6_k_q8_k", "vec_dot_q6_k", vec_dot<GGML_TYPE_Q6_K>),
                                    plain_kernel("linear_q4_0", "mul_mat_q4_0", mul_mat<GGML_TYPE_Q4_0>),
                                    plain_kernel("linear_q5_0", "mul_mat_q5_0", mul_mat<GGML_TYPE_Q5_0>),
                                    plain_kernel("linear_q8_0", "mul_mat_q8_0", mul_mat<GGML_TYPE_Q8_0>),
                                    plain_kernel("linear_q4_k", "mul_mat_q4_k", mul_mat<GGML_TYPE_Q4_K>),
                                    plain_kernel("linear_q5_k", "mul_mat_q5_k", mul_mat<GGML_TYPE_Q5_K>),
                                    plain_kernel("linear_q6_k", "mul_mat_q6_k", mul_mat<GGML_TYPE_Q6_K>),
                                    tiled<float>("matvec_f32", "mul_mat_f32", mul_vec<GGML_TYPE_F32>),
                                    tiled<float>("gemm_f32", "mul_mat_f32", mul_mat<GGML_TYPE_F32>),
                                    tiled<std::uint16_t>("matvec_f16", "mul_mat_f16", mul_vec<GGML_TYPE_F16>),
                                    tiled<std::uint16_t>("gemm_f16", "mul_mat_f16", mul_mat<GGML_TYPE_F16>),
                                    tiled<std::uint16_t>("matvec_bf16", "mul_mat_bf16", mul_vec<GGML_TYPE_BF16>),
                                    tiled<std::uint16_t>("gemm_bf16", "mul_mat_bf16", mul_mat<GGML_TYPE_BF16>),
                                });
}

}  // namespace assay::plugins
