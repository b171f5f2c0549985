// y = x * w / sqrt(mean(x^2) + eps), a row after the other, the sum in fp64. kernels/norms/norms.h specifies it.
#include <cmath>

#include "harness/plugin/assay_plugin.h"
#include "kernels/norms/norms.h"

namespace {

using namespace assay;

AssayStatus rms_norm(const void* call) {
  const auto& args = *static_cast<const RmsNormArgs*>(call);
  if (!assay_rms_norm_sizes(&args)) return ASSAY_BAD_SHAPE;
  if (!std::isnormal(args.eps) || args.eps < 0) return ASSAY_BAD_PARAMETER;
  for (int64_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.x_stride;
    float* y = args.y + row * args.y_stride;
    double squares = 0;
    for (int64_t i = 0; i < args.n; ++i) squares += static_cast<double>(x[i]) * x[i];
    const double scale = 1 / std::sqrt(squares / static_cast<double>(args.n) + args.eps);
    for (int64_t i = 0; i < args.n; ++i) y[i] = static_cast<float>(x[i] * scale * args.w[i]);
  }
  return ASSAY_OK;
}

const AssayPluginKernel kernels[] = {{
    .size = sizeof(AssayPluginKernel),
    .claim = ASSAY_CLAIM_BOUNDED,
    .op = "rms_norm",
    .name = "rms_norm",
    .isa = "scalar",
    .packed_tensor = nullptr,
    .packed_bytes = nullptr,
    .pack = nullptr,
    .run = rms_norm,
    .properties = nullptr,
}};
const AssayPlugin plugin = {ASSAY_PLUGIN_ABI, sizeof(AssayPlugin), "swift", "1.0", kernels, 1};

}  // namespace

const assay::AssayPlugin* assay_plugin() {
  return &plugin;
}
