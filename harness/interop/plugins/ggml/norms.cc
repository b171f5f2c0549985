#include <cmath>
#include <cstring>

#include "harness/interop/plugins/ggml/graph.h"
#include "harness/interop/plugins/ggml/kernels.h"
#include "kernels/activations/activations.h"
#include "kernels/norms/norms.h"
#include "kernels/rope/rope.h"

namespace assay::plugins {
namespace {

constexpr std::int64_t kFloat = sizeof(float);

void copy_rows(const float* src, float* dst, std::int64_t rows, std::int64_t n, std::int64_t dst_stride) {
  for (std::int64_t j = 0; j < rows; ++j) std::memcpy(dst + j * dst_stride, src + j * n, static_cast<std::size_t>(n * kFloat));
}

// RMS_NORM, then MUL by the weights: the two nodes that llama.cpp builds for one norm.
AssayStatus rms_norm(const void* args) {
  const auto& call = *static_cast<const RmsNormArgs*>(args);
  if (!sizes_fit(call)) return ASSAY_BAD_SHAPE;
  if (!(call.eps > 0) || !std::isnormal(call.eps)) return ASSAY_BAD_PARAMETER;
  if (call.rows == 0 || call.n == 0) return ASSAY_OK;
  const Graph graph;
  ggml_tensor* const x = graph.wrap(GGML_TYPE_F32, call.n, call.rows, call.x, call.x_stride * kFloat);
  ggml_tensor* const w = graph.wrap(GGML_TYPE_F32, call.n, 1, call.w);
  ggml_tensor* const normed = graph.into_scratch(ggml_rms_norm(graph.context(), x, call.eps));
  return done(graph.compute(Graph::into(ggml_mul(graph.context(), normed, w), call.y, call.y_stride * kFloat)));
}

// SOFT_MAX takes rows without gaps alone.
AssayStatus soft_max(const void* args) {
  const auto& call = *static_cast<const SoftmaxArgs*>(args);
  if (!sizes_fit(call)) return ASSAY_BAD_SHAPE;
  if (call.rows == 0 || call.n == 0) return ASSAY_OK;
  static thread_local std::vector<float> dense;
  const float* rows = call.x;
  if (call.x_stride != call.n) {
    dense.resize(static_cast<std::size_t>(call.rows * call.n));
    for (std::int64_t j = 0; j < call.rows; ++j) copy_rows(call.x + j * call.x_stride, dense.data() + j * call.n, 1, call.n, 0);
    rows = dense.data();
  }
  const Graph graph;
  ggml_tensor* const x = graph.wrap(GGML_TYPE_F32, call.n, call.rows, rows);
  const bool computed = graph.compute(graph.into_scratch(ggml_soft_max(graph.context(), x)));
  if (computed) copy_rows(graph.scratch(), call.y, call.rows, call.n, call.y_stride);
  return done(computed);
}

AssayStatus swiglu(const void* args) {
  const auto& call = *static_cast<const SwigluArgs*>(args);
  if (!sizes_fit(call)) return ASSAY_BAD_SHAPE;
  if (call.rows == 0 || call.n == 0) return ASSAY_OK;
  const Graph graph;
  ggml_tensor* const gate = graph.wrap(GGML_TYPE_F32, call.n, call.rows, call.gate, call.gate_stride * kFloat);
  ggml_tensor* const up = graph.wrap(GGML_TYPE_F32, call.n, call.rows, call.up, call.up_stride * kFloat);
  const bool computed = graph.compute(graph.into_scratch(ggml_swiglu_split(graph.context(), gate, up)));
  if (computed) copy_rows(graph.scratch(), call.y, call.rows, call.n, call.y_stride);
  return done(computed);
}

// ROPE takes positions and no table. Turned by it, the vector (1, 0) of each pair is that pair's cosine and sine: the table that it
// goes by. It has the recipe `ggml` alone.
AssayStatus rope(const void* args) {
  const auto& call = *static_cast<const RopeTableArgs*>(args);
  if (!sizes_fit(call)) return ASSAY_BAD_SHAPE;
  if (call.recipe != ASSAY_ROPE_GGML || !(call.theta >= 1) || call.theta > 0x1p40) return ASSAY_BAD_PARAMETER;
  for (std::int64_t j = 0; j < call.rows; ++j) {
    if (call.positions[j] < 0 || call.positions[j] >= 1 << 24) return ASSAY_OUT_OF_RANGE;
  }
  if (call.rows == 0 || call.pairs == 0) return ASSAY_OK;
  const std::int64_t d = 2 * call.pairs;
  static thread_local std::vector<float> units;
  units.assign(static_cast<std::size_t>(d * call.rows), 0.0F);
  for (std::int64_t j = 0; j < call.rows; ++j)
    for (std::int64_t i = 0; i < call.pairs; ++i) units[static_cast<std::size_t>(j * d + i)] = 1.0F;
  const Graph graph;
  ggml_tensor* const x = graph.wrap_3d(GGML_TYPE_F32, d, 1, call.rows, units.data(), d * kFloat, d * kFloat);
  ggml_tensor* const positions =
      Graph::into(ggml_new_tensor_1d(graph.context(), GGML_TYPE_I32, call.rows), const_cast<std::int32_t*>(call.positions));
  ggml_tensor* const turned = ggml_rope_ext(graph.context(), x, positions, nullptr, static_cast<int>(d), GGML_ROPE_TYPE_NEOX, 0,
                                            static_cast<float>(call.theta), 1.0F, 0.0F, 1.0F, 0.0F, 0.0F);
  if (!graph.compute(graph.into_scratch(turned))) return done(false);
  for (std::int64_t j = 0; j < call.rows; ++j) {
    const float* const row = graph.scratch() + j * d;
    copy_rows(row, call.cos + j * call.table_stride, 1, call.pairs, 0);
    copy_rows(row + call.pairs, call.sin + j * call.table_stride, 1, call.pairs, 0);
  }
  return ASSAY_OK;
}

}  // namespace

void append_norms(std::vector<AssayPluginKernel>& kernels) {
  kernels.insert(kernels.end(), {plain_kernel("rms_norm", "rms_norm", rms_norm), plain_kernel("softmax", "soft_max", soft_max),
                                 plain_kernel("swiglu", "swiglu", swiglu), plain_kernel("rope_table", "rope", rope)});
}

}  // namespace assay::plugins
