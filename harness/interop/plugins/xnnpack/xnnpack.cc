// XNNPACK's f32 softmax, on the caller's thread. xnnpack.h grants it XNN_EXTRA_BYTES of over-read: 16.
#include <xnnpack.h>

#include <memory>
#include <type_traits>

#include "harness/plugin/assay_plugin.h"
#include "kernels/norms/norms.h"

namespace assay::plugins {
namespace {

static_assert(XNN_EXTRA_BYTES == 16, "as kKernels declares");

AssayStatus softmax(const void* args) {
  const auto& call = *static_cast<const SoftmaxArgs*>(args);
  if (!sizes_fit(call)) return ASSAY_BAD_SHAPE;
  if (call.rows == 0 || call.n == 0) return ASSAY_OK;
  const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  xnn_operator_t made = nullptr;
  if (xnn_create_softmax_nc_f32(size(call.n), size(call.x_stride), size(call.y_stride), 0, &made) != xnn_status_success) {
    return ASSAY_BAD_SHAPE;
  }
  const std::unique_ptr<xnn_operator, xnn_status (*)(xnn_operator_t)> op(made, xnn_delete_operator);
  const bool done = xnn_setup_softmax_nc_f32(made, size(call.rows), call.x, call.y, nullptr) == xnn_status_success &&
                    xnn_run_operator(made, nullptr) == xnn_status_success;
  return done ? ASSAY_OK : ASSAY_BAD_SHAPE;
}

constexpr AssayPluginKernel kKernels[] = {
    {sizeof(AssayPluginKernel), ASSAY_CLAIM_BOUNDED, "softmax", "softmax_nc", "scalar", nullptr, nullptr, nullptr, softmax,
     "allocates=yes;over-read=16;"},
};

const AssayPlugin* describe() {
  if (xnn_initialize(nullptr) != xnn_status_success) return nullptr;
  static const AssayPlugin plugin{
      ASSAY_PLUGIN_ABI, sizeof(AssayPlugin), "xnnpack", "2022-02-16", kKernels, std::extent_v<decltype(kKernels)>};
  return &plugin;
}

}  // namespace
}  // namespace assay::plugins

ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin(void) {
  return assay::plugins::describe();
}
