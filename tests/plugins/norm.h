// The op rms_norm as plugins on trial have it.
#pragma once

#include <cmath>
#include <cstdint>

#include "harness/plugin/assay_plugin.h"
#include "kernels/norms/norms.h"

namespace {

using assay::ASSAY_BAD_PARAMETER;
using assay::ASSAY_BAD_SHAPE;
using assay::ASSAY_OK;
using assay::AssayPluginKernel;
using assay::AssayStatus;
using assay::RmsNormArgs;

const RmsNormArgs& call(const void* args) {
  return *static_cast<const RmsNormArgs*>(args);
}

// In double: inside the bound, and not the canonical bits. `sign` undoes what a packed w has done to it.
AssayStatus norm(const RmsNormArgs& a, double sign = 1) {
  if (!assay_rms_norm_sizes(&a)) return ASSAY_BAD_SHAPE;
  if (!(std::isnormal(a.eps) && a.eps > 0)) return ASSAY_BAD_PARAMETER;
  for (std::int64_t j = 0; j < a.rows && a.n > 0; ++j) {
    const float* x = a.x + j * a.x_stride;
    double sum = 0;
    for (std::int64_t i = 0; i < a.n; ++i) sum += static_cast<double>(x[i]) * x[i];
    const double r = sign / std::sqrt(sum / static_cast<double>(a.n) + a.eps);
    for (std::int64_t i = 0; i < a.n; ++i) a.y[j * a.y_stride + i] = static_cast<float>(x[i] * r * a.w[i]);
  }
  return ASSAY_OK;
}

}  // namespace
