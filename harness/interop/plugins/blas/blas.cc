// The f32 products of a BLAS, on one thread: OpenBLAS's or BLIS's, by ASSAY_BLAS_IS_BLIS. Weights lie as plain rows, which BLAS calls a
// transposed column-major matrix.
#if ASSAY_BLAS_IS_BLIS
#include <blis.h>
#endif
#include <cblas.h>

#include <type_traits>

#include "harness/interop/plugins/tile_major.h"
#include "harness/plugin/assay_plugin.h"

namespace assay::plugins {
namespace {

#if ASSAY_BLAS_IS_BLIS
using Size = f77_int;
constexpr const char* kName = "blis";
constexpr const char* kTraits = "allocates=yes;batch-invariant=no;over-read=256;";
const char* version_on_one_thread() {
  bli_thread_set_num_threads(1);
  return bli_info_get_version_str();
}
#else
using Size = blasint;
constexpr const char* kName = "openblas";
constexpr const char* kTraits = "allocates=yes;batch-invariant=no;";  // its buffers, at the first call of a thread
const char* version_on_one_thread() {
  openblas_set_num_threads(1);
  return openblas_get_config();
}
#endif

Size of(std::int64_t size) {
  return static_cast<Size>(size);
}

// BLAS takes no leading dimension of 0.
Size leading(std::int64_t size) {
  return of(size > 0 ? size : 1);
}

const float* floats(const void* data) {
  return static_cast<const float*>(data);
}

AssayStatus sgemv(const void* args) {
  const auto& call = *static_cast<const ProductArgs*>(args);
  if (!one_row(call)) return ASSAY_BAD_SHAPE;
  // With k = 0 BLAS returns before it looks at beta.
  if (call.k == 0) {
    for (std::int64_t i = 0; i < call.n; ++i) call.y[i] = 0.0F;
    return ASSAY_OK;
  }
  cblas_sgemv(CblasRowMajor, CblasNoTrans, of(call.n), of(call.k), 1.0F, floats(call.w), leading(call.k), floats(call.x), 1, 0.0F,
              call.y, 1);
  return ASSAY_OK;
}

AssayStatus sgemm(const void* args) {
  const auto& call = *static_cast<const ProductArgs*>(args);
  if (!sizes_fit(call)) return ASSAY_BAD_SHAPE;
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, of(call.m), of(call.n), of(call.k), 1.0F, floats(call.x),
              leading(call.x_stride), floats(call.w), leading(call.k), 0.0F, call.y, leading(call.y_stride));
  return ASSAY_OK;
}

constexpr AssayPluginKernel kernel(const char* op, const char* name, AssayStatus (*run)(const void*)) {
  return {sizeof(AssayPluginKernel), ASSAY_CLAIM_BOUNDED, op,  name,   "scalar", "w",
          plain_bytes<float>,        pack_plain<float>,   run, kTraits};
}

constexpr AssayPluginKernel kKernels[] = {
    kernel("matvec_f32", "sgemv", sgemv),
    kernel("gemm_f32", "sgemm", sgemm),
};

// The caller splits calls among threads, so the library must not.
const AssayPlugin* describe() {
  static const AssayPlugin plugin{
      ASSAY_PLUGIN_ABI, sizeof(AssayPlugin), kName, version_on_one_thread(), kKernels, std::extent_v<decltype(kKernels)>};
  return &plugin;
}

}  // namespace
}  // namespace assay::plugins

ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin(void) {
  return assay::plugins::describe();
}
