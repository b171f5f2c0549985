// A plugin for tests of the engine: our scalar kernels as a stranger's, right ones and wrong ones.
#include "harness/interop/plugins/tile_major.h"
#include "harness/plugin/assay_plugin.h"
#include "kernels/op_tables.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace assay {
namespace {

using Run = AssayStatus (*)(const void*);

template <const OpTable& kOp>
AssayStatus right(const void* args) {
  return kOp.kernels.back().run(args);
}

// A thousandth too much in column 0.
template <const OpTable& kOp>
AssayStatus off(const void* args) {
  const auto& call = *static_cast<const ProductArgs*>(args);
  const AssayStatus status = right<kOp>(args);
  for (std::int64_t j = 0; status == ASSAY_OK && j < call.m; ++j) call.y[j * call.y_stride] *= 1.001F;
  return status;
}

AssayStatus doubled_norm(const void* args) {
  const auto& call = *static_cast<const RmsNormArgs*>(args);
  const AssayStatus status = right<kernel_tables::rms_norm>(args);
  for (std::int64_t j = 0; status == ASSAY_OK && j < call.rows; ++j) {
    for (std::int64_t i = 0; i < call.n; ++i) call.y[j * call.y_stride + i] *= 2;
  }
  return status;
}

// Over plain rows, packed from tiles; packed back for the kernel.
template <const OpTable& kOp>
AssayStatus from_plain(const void* args) {
  ProductArgs call = *static_cast<const ProductArgs*>(args);
  if (!sizes_fit(call)) return ASSAY_BAD_SHAPE;
  std::vector<std::uint16_t> tiles(static_cast<std::size_t>((call.n + 31) / 32 * 32 * call.k));
  const PackArgs pack{call.w, tiles.data(), call.n, call.k, call.k, 0};
  const AssayStatus status = right<kernel_tables::pack_tile_f16>(&pack);
  call.w = tiles.data();
  return status == ASSAY_OK ? right<kOp>(&call) : status;
}

AssayPluginKernel kernel(const OpTable& op, const char* name, Run run) {
  AssayPluginKernel out{};
  out.size = sizeof out;
  out.claim = ASSAY_CLAIM_BOUNDED;
  out.op = op.op;
  out.name = name;
  out.isa = "scalar";
  out.run = run;
  return out;
}

template <const OpTable& kOp>
AssayPluginKernel packed(const char* name) {
  AssayPluginKernel out = kernel(kOp, name, from_plain<kOp>);
  out.packed_tensor = "w";
  out.packed_bytes = plugins::plain_bytes<std::uint16_t>;
  out.pack = plugins::pack_plain<std::uint16_t>;
  return out;
}

const AssayPluginKernel kKernels[] = {
    kernel(kernel_tables::linear_q4_k, "product_q4_k", right<kernel_tables::linear_q4_k>),
    kernel(kernel_tables::linear_q6_k, "product_q6_k", right<kernel_tables::linear_q6_k>),
    kernel(kernel_tables::linear_q4_k, "off_q4_k", off<kernel_tables::linear_q4_k>),
    kernel(kernel_tables::linear_q6_k, "off_q6_k", off<kernel_tables::linear_q6_k>),
    kernel(kernel_tables::rms_norm, "norm", right<kernel_tables::rms_norm>),
    kernel(kernel_tables::rms_norm, "norm_doubled", doubled_norm),
    kernel(kernel_tables::matvec_f16, "half_vector", right<kernel_tables::matvec_f16>),
    packed<kernel_tables::matvec_f16>("product_f16"),
    packed<kernel_tables::gemm_f16>("product_f16"),
};
const AssayPlugin kPlugin{ASSAY_PLUGIN_ABI, sizeof(AssayPlugin), "site", "7", kKernels, std::size(kKernels)};

}  // namespace
}  // namespace assay

ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin(void) {
  return &assay::kPlugin;
}
