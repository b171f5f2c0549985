// oneDNN's f32 products and softmax, in code that it makes for this CPU at the first call of a shape.
#include <omp.h>
#include <dnnl.hpp>

#include <string>
#include <type_traits>

#include "harness/interop/plugins/tile_major.h"
#include "harness/plugin/assay_plugin.h"
#include "kernels/norms/norms.h"

namespace assay::plugins {
namespace {

// oneDNN takes no leading dimension of 0.
std::int64_t leading(std::int64_t size) {
  return size > 0 ? size : 1;
}

// w lies as plain rows: x [m, k] times w [n, k] transposed.
AssayStatus product(const ProductArgs& call, std::int64_t m, std::int64_t x_stride, std::int64_t y_stride) {
  omp_set_num_threads(1);  // of this caller's
  if (m == 0 || call.n == 0) return ASSAY_OK;
  if (call.k == 0) {
    for (std::int64_t j = 0; j < m; ++j) {
      for (std::int64_t i = 0; i < call.n; ++i) call.y[j * y_stride + i] = 0.0F;
    }
    return ASSAY_OK;
  }
  const dnnl_status_t done = dnnl_sgemm('N', 'T', m, call.n, call.k, 1.0F, static_cast<const float*>(call.x), leading(x_stride),
                                        static_cast<const float*>(call.w), leading(call.k), 0.0F, call.y, leading(y_stride));
  return done == dnnl_success ? ASSAY_OK : ASSAY_BAD_SHAPE;
}

AssayStatus matvec(const void* args) {
  const auto& call = *static_cast<const ProductArgs*>(args);
  if (!one_row(call)) return ASSAY_BAD_SHAPE;
  return product(call, 1, call.k, call.n);
}

AssayStatus gemm(const void* args) {
  const auto& call = *static_cast<const ProductArgs*>(args);
  if (!sizes_fit(call)) return ASSAY_BAD_SHAPE;
  return product(call, call.m, call.x_stride, call.y_stride);
}

AssayStatus softmax(const void* args) try {
  const auto& call = *static_cast<const SoftmaxArgs*>(args);
  if (!sizes_fit(call)) return ASSAY_BAD_SHAPE;
  if (call.rows == 0 || call.n == 0) return ASSAY_OK;
  omp_set_num_threads(1);
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  thread_local dnnl::stream stream(cpu);
  const auto rows = [&](std::int64_t stride) {
    return dnnl::memory::desc({call.rows, call.n}, dnnl::memory::data_type::f32, {stride, 1});
  };
  const dnnl::softmax_v2_forward::desc description(dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate,
                                                   rows(call.x_stride), rows(call.y_stride), 1);
  const dnnl::softmax_v2_forward::primitive_desc chosen(description, cpu);
  dnnl::memory x(chosen.src_desc(), cpu, const_cast<float*>(call.x));
  dnnl::memory y(chosen.dst_desc(), cpu, call.y);
  dnnl::softmax_v2_forward(chosen).execute(stream, {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}});
  stream.wait();
  return ASSAY_OK;
} catch (const dnnl::error&) {
  return ASSAY_BAD_SHAPE;
}

constexpr const char* kTraits = "allocates=yes;batch-invariant=no;";

constexpr AssayPluginKernel plain(const char* op, const char* name, AssayStatus (*run)(const void*)) {
  return {sizeof(AssayPluginKernel), ASSAY_CLAIM_BOUNDED, op,  name,   "scalar", "w",
          plain_bytes<float>,        pack_plain<float>,   run, kTraits};
}

constexpr AssayPluginKernel kKernels[] = {
    plain("matvec_f32", "sgemm", matvec),
    plain("gemm_f32", "sgemm", gemm),
    {sizeof(AssayPluginKernel), ASSAY_CLAIM_BOUNDED, "softmax", "softmax", "scalar", nullptr, nullptr, nullptr, softmax, kTraits},
};

const AssayPlugin* describe() {
  static const std::string version = std::to_string(dnnl_version()->major) + "." + std::to_string(dnnl_version()->minor);
  static const AssayPlugin plugin{
      ASSAY_PLUGIN_ABI, sizeof(AssayPlugin), "onednn", version.c_str(), kKernels, std::extent_v<decltype(kKernels)>};
  return &plugin;
}

}  // namespace
}  // namespace assay::plugins

ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin(void) {
  return assay::plugins::describe();
}
