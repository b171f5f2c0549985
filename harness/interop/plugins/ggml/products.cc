#include "harness/interop/plugins/ggml/graph.h"
#include "harness/interop/plugins/ggml/kernels.h"
#include "harness/interop/plugins/tile_major.h"
#include "kernels/gemm_bf16/gemm_bf16.h"
#include "kernels/gemm_f16/gemm_f16.h"
#include "kernels/gemm_f32/gemm_f32.h"
#include "kernels/gemv_q4_0_q8_0/gemv_q4_0_q8_0.h"
#include "kernels/gemv_q4_k_q8_k/gemv_q4_k_q8_k.h"
#include "kernels/gemv_q5_0_q8_0/gemv_q5_0_q8_0.h"
#include "kernels/gemv_q5_k_q8_k/gemv_q5_k_q8_k.h"
#include "kernels/gemv_q6_k_q8_k/gemv_q6_k_q8_k.h"
#include "kernels/gemv_q8_0_q8_0/gemv_q8_0_q8_0.h"
#include "kernels/linear_q4_0/linear_q4_0.h"
#include "kernels/linear_q4_k/linear_q4_k.h"
#include "kernels/linear_q5_0/linear_q5_0.h"
#include "kernels/linear_q5_k/linear_q5_k.h"
#include "kernels/linear_q6_k/linear_q6_k.h"
#include "kernels/linear_q8_0/linear_q8_0.h"
#include "kernels/matvec_bf16/matvec_bf16.h"
#include "kernels/matvec_f16/matvec_f16.h"
#include "kernels/matvec_f32/matvec_f32.h"

namespace assay::plugins {
namespace {

// Row by row, as MUL_MAT does it between quantised rows.
template <class Op, ggml_type kType>
AssayStatus vec_dot(const void* args) {
  const auto& call = *static_cast<const typename Op::Args*>(args);
  if (call.k % ggml_blck_size(kType) != 0) return ASSAY_BAD_SHAPE;
  const std::int64_t blocks = call.k / ggml_blck_size(kType);
  const ggml_vec_dot_t dot = ggml_get_type_traits_cpu(kType)->vec_dot;
  for (std::int64_t i = 0; i < call.n; ++i) dot(static_cast<int>(call.k), call.y + i, 0, call.w + i * blocks, 0, call.x, 0, 1);
  return ASSAY_OK;
}

struct Shape {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  std::int64_t x_stride;
  std::int64_t y_stride;
};

template <class Args>
Shape shape_of(const Args& call) {
  if constexpr (requires { call.m; }) {
    return {call.m, call.n, call.k, call.x_stride, call.y_stride};
  } else {
    return {1, call.n, call.k, call.k, call.n};
  }
}

template <class Op, ggml_type kType>
AssayStatus mul_mat(const void* args) {
  const auto& call = *static_cast<const typename Op::Args*>(args);
  const Shape s = shape_of(call);
  if (s.k < 0 || s.k % ggml_blck_size(kType) != 0) return ASSAY_BAD_SHAPE;
  if (s.k == 0) {  // a tensor of ggml has at least one element
    for (std::int64_t j = 0; j < s.m; ++j)
      for (std::int64_t i = 0; i < s.n; ++i) call.y[j * s.y_stride + i] = 0.0F;
    return ASSAY_OK;
  }
  if (s.m == 0 || s.n == 0) return ASSAY_OK;
  constexpr std::int64_t kFloat = sizeof(float);
  const Graph graph;
  ggml_tensor* const w = graph.wrap(kType, s.k, s.n, call.w);
  ggml_tensor* const x = graph.wrap(GGML_TYPE_F32, s.k, s.m, call.x, s.x_stride * kFloat);
  return done(graph.compute(Graph::into(ggml_mul_mat(graph.context(), w, x), call.y, s.y_stride * kFloat)));
}

// Tile-major weights: plain rows are the plugin's own layout.
template <class Op, ggml_type kType>
AssayPluginKernel tiled(const char* name) {
  using Args = typename Op::Args;
  return {sizeof(AssayPluginKernel), ASSAY_CLAIM_BOUNDED, Op::name,          name, "scalar", "w",
          plain_bytes<Args>,         pack_plain<Args>,    mul_mat<Op, kType>};
}

}  // namespace

void append_products(std::vector<AssayPluginKernel>& kernels) {
  kernels.insert(kernels.end(), {
                                    plain_kernel("gemv_q4_0_q8_0", "vec_dot_q4_0", vec_dot<GemvQ40Q80, GGML_TYPE_Q4_0>),
                                    plain_kernel("gemv_q5_0_q8_0", "vec_dot_q5_0", vec_dot<GemvQ50Q80, GGML_TYPE_Q5_0>),
                                    plain_kernel("gemv_q8_0_q8_0", "vec_dot_q8_0", vec_dot<GemvQ80Q80, GGML_TYPE_Q8_0>),
                                    plain_kernel("gemv_q4_k_q8_k", "vec_dot_q4_k", vec_dot<GemvQ4KQ8K, GGML_TYPE_Q4_K>),
                                    plain_kernel("gemv_q5_k_q8_k", "vec_dot_q5_k", vec_dot<GemvQ5KQ8K, GGML_TYPE_Q5_K>),
                                    plain_kernel("gemv_q6_k_q8_k", "vec_dot_q6_k", vec_dot<GemvQ6KQ8K, GGML_TYPE_Q6_K>),
                                    plain_kernel("linear_q4_0", "mul_mat_q4_0", mul_mat<LinearQ40, GGML_TYPE_Q4_0>),
                                    plain_kernel("linear_q5_0", "mul_mat_q5_0", mul_mat<LinearQ50, GGML_TYPE_Q5_0>),
                                    plain_kernel("linear_q8_0", "mul_mat_q8_0", mul_mat<LinearQ80, GGML_TYPE_Q8_0>),
                                    plain_kernel("linear_q4_k", "mul_mat_q4_k", mul_mat<LinearQ4K, GGML_TYPE_Q4_K>),
                                    plain_kernel("linear_q5_k", "mul_mat_q5_k", mul_mat<LinearQ5K, GGML_TYPE_Q5_K>),
                                    plain_kernel("linear_q6_k", "mul_mat_q6_k", mul_mat<LinearQ6K, GGML_TYPE_Q6_K>),
                                    tiled<MatvecF32, GGML_TYPE_F32>("mul_mat_f32"),
                                    tiled<GemmF32, GGML_TYPE_F32>("mul_mat_f32"),
                                    tiled<MatvecF16, GGML_TYPE_F16>("mul_mat_f16"),
                                    tiled<GemmF16, GGML_TYPE_F16>("mul_mat_f16"),
                                    tiled<MatvecBf16, GGML_TYPE_BF16>("mul_mat_bf16"),
                                    tiled<GemmBf16, GGML_TYPE_BF16>("mul_mat_bf16"),
                                });
}

}  // namespace assay::plugins
