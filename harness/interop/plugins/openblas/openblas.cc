// OpenBLAS's f32 products, on one thread. Weights lie as plain rows, which BLAS calls a transposed column-major matrix.
#include <cblas.h>

#include <type_traits>

#include "harness/interop/plugins/tile_major.h"
#include "harness/plugin/assay_plugin.h"
#include "kernels/gemm_f32/gemm_f32.h"
#include "kernels/matvec_f32/matvec_f32.h"

namespace assay::plugins {
namespace {

blasint of(std::int64_t size) {
  return static_cast<blasint>(size);
}

// BLAS takes no leading dimension of 0.
blasint leading(std::int64_t size) {
  return of(size > 0 ? size : 1);
}

AssayStatus sgemv(const void* args) {
  const auto& call = *static_cast<const MatvecF32Args*>(args);
  // With k = 0 BLAS returns before it looks at beta.
  if (call.k == 0) {
    for (std::int64_t i = 0; i < call.n; ++i) call.y[i] = 0.0F;
    return ASSAY_OK;
  }
  cblas_sgemv(CblasRowMajor, CblasNoTrans, of(call.n), of(call.k), 1.0F, call.w, leading(call.k), call.x, 1, 0.0F, call.y, 1);
  return ASSAY_OK;
}

AssayStatus sgemm(const void* args) {
  const auto& call = *static_cast<const GemmF32Args*>(args);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, of(call.m), of(call.n), of(call.k), 1.0F, call.x, leading(call.x_stride),
              call.w, leading(call.k), 0.0F, call.y, leading(call.y_stride));
  return ASSAY_OK;
}

template <class Args>
constexpr AssayPluginKernel kernel(const char* op, const char* name, AssayStatus (*run)(const void*)) {
  return {sizeof(AssayPluginKernel), ASSAY_CLAIM_BOUNDED, op, name, "scalar", "w", plain_bytes<Args>, pack_plain<Args>, run};
}

constexpr AssayPluginKernel kKernels[] = {
    kernel<MatvecF32Args>("matvec_f32", "sgemv", sgemv),
    kernel<GemmF32Args>("gemm_f32", "sgemm", sgemm),
};

// The caller splits calls among threads, so OpenBLAS must not.
const AssayPlugin* describe() {
  openblas_set_num_threads(1);
  static const AssayPlugin plugin{
      ASSAY_PLUGIN_ABI, sizeof(AssayPlugin), "openblas", openblas_get_config(), kKernels, std::extent_v<decltype(kKernels)>};
  return &plugin;
}

}  // namespace
}  // namespace assay::plugins

ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin(void) {
  return assay::plugins::describe();
}
