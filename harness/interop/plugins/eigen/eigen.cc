// What a user of Eigen writes in a line, in f32: products by plain rows, softmax, RMSNorm.
#include <Eigen/Core>
#include <cmath>
#include <type_traits>

#include "harness/interop/plugins/tile_major.h"
#include "harness/plugin/assay_plugin.h"
#include "kernels/norms/norms.h"

namespace assay::plugins {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Strided = Eigen::OuterStride<>;
using Rows = Eigen::Map<const Matrix, 0, Strided>;
using OutRows = Eigen::Map<Matrix, 0, Strided>;

AssayStatus matvec(const void* args) {
  const auto& call = *static_cast<const ProductArgs*>(args);
  if (!one_row(call)) return ASSAY_BAD_SHAPE;
  const Eigen::Map<const Matrix> w(static_cast<const float*>(call.w), call.n, call.k);
  const Eigen::Map<const Eigen::VectorXf> x(static_cast<const float*>(call.x), call.k);
  Eigen::Map<Eigen::VectorXf>(call.y, call.n).noalias() = w * x;
  return ASSAY_OK;
}

AssayStatus gemm(const void* args) {
  const auto& call = *static_cast<const ProductArgs*>(args);
  if (!sizes_fit(call)) return ASSAY_BAD_SHAPE;
  const Eigen::Map<const Matrix> w(static_cast<const float*>(call.w), call.n, call.k);
  const Rows x(static_cast<const float*>(call.x), call.m, call.k, Strided(call.x_stride));
  OutRows(call.y, call.m, call.n, Strided(call.y_stride)).noalias() = x * w.transpose();
  return ASSAY_OK;
}

AssayStatus rms_norm(const void* args) {
  const auto& call = *static_cast<const RmsNormArgs*>(args);
  if (!sizes_fit(call)) return ASSAY_BAD_SHAPE;
  if (!(call.eps > 0) || !std::isnormal(call.eps)) return ASSAY_BAD_PARAMETER;
  if (call.n == 0) return ASSAY_OK;
  const Rows x(call.x, call.rows, call.n, Strided(call.x_stride));
  const Eigen::Map<const Eigen::RowVectorXf> w(call.w, call.n);
  OutRows y(call.y, call.rows, call.n, Strided(call.y_stride));
  for (std::int64_t j = 0; j < call.rows; ++j) {
    // A square past f32 is what the op's domain has, so the sum is in f64.
    const double mean = x.row(j).cast<double>().squaredNorm() / static_cast<double>(call.n);
    const auto scale = static_cast<float>(1 / std::sqrt(mean + static_cast<double>(call.eps)));
    y.row(j) = (x.row(j) * scale).cwiseProduct(w);
  }
  return ASSAY_OK;
}

AssayStatus softmax(const void* args) {
  const auto& call = *static_cast<const SoftmaxArgs*>(args);
  if (!sizes_fit(call)) return ASSAY_BAD_SHAPE;
  if (call.n == 0) return ASSAY_OK;
  const Rows x(call.x, call.rows, call.n, Strided(call.x_stride));
  OutRows y(call.y, call.rows, call.n, Strided(call.y_stride));
  for (std::int64_t j = 0; j < call.rows; ++j) {
    const float largest = x.row(j).maxCoeff<Eigen::PropagateNaN>();
    y.row(j) = (x.row(j).array() - largest).exp();
    y.row(j) /= y.row(j).sum();
  }
  return ASSAY_OK;
}

constexpr AssayPluginKernel product(const char* op, AssayStatus (*run)(const void*)) {
  return {sizeof(AssayPluginKernel),
          ASSAY_CLAIM_BOUNDED,
          op,
          "native",
          "scalar",
          "w",
          plain_bytes<float>,
          pack_plain<float>,
          run,
          "allocates=yes;batch-invariant=no;placement-invariant=no;"};
}

constexpr AssayPluginKernel norm(const char* op, AssayStatus (*run)(const void*)) {
  return {sizeof(AssayPluginKernel),
          ASSAY_CLAIM_BOUNDED,
          op,
          "native",
          "scalar",
          nullptr,
          nullptr,
          nullptr,
          run,
          "batch-invariant=no;placement-invariant=no;"};
}

constexpr AssayPluginKernel kKernels[] = {
    product("matvec_f32", matvec),
    product("gemm_f32", gemm),
    norm("rms_norm", rms_norm),
    norm("softmax", softmax),
};

constexpr AssayPlugin kPlugin{ASSAY_PLUGIN_ABI, sizeof(AssayPlugin), "eigen", "3.4", kKernels, std::extent_v<decltype(kKernels)>};

}  // namespace
}  // namespace assay::plugins

ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin(void) {
  return &assay::plugins::kPlugin;
}
