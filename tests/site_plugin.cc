// A plugin for tests of the engine: our scalar kernels as a stranger's, right ones and wrong ones.
#include "harness/interop/plugins/tile_major.h"
#include "harness/plugin/assay_plugin.h"
#include "kernels/gemm_f16/gemm_f16.h"
#include "kernels/kernel.h"
#include "kernels/linear_q4_k/linear_q4_k.h"
#include "kernels/linear_q6_k/linear_q6_k.h"
#include "kernels/matvec_f16/matvec_f16.h"
#include "kernels/pack_tile_f16/pack_tile_f16.h"
#include "kernels/rms_norm/rms_norm.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace assay {
namespace {

template <class Op>
AssayStatus right(const void* args) {
  return kernels<Op>().back().run(static_cast<const typename Op::Args*>(args));
}

// A thousandth too much in column 0.
template <class Op>
AssayStatus off(const void* args) {
  const auto& call = *static_cast<const typename Op::Args*>(args);
  const AssayStatus status = right<Op>(args);
  for (std::int64_t j = 0; status == ASSAY_OK && j < call.m; ++j) call.y[j * call.y_stride] *= 1.001F;
  return status;
}

AssayStatus doubled_norm(const void* args) {
  const auto& call = *static_cast<const RmsNormArgs*>(args);
  const AssayStatus status = right<RmsNorm>(args);
  for (std::int64_t j = 0; status == ASSAY_OK && j < call.rows; ++j) {
    for (std::int64_t i = 0; i < call.n; ++i) call.y[j * call.y_stride + i] *= 2;
  }
  return status;
}

// Over plain rows, packed from tiles; packed back for the kernel.
template <class Op>
AssayStatus from_plain(const void* args) {
  auto call = *static_cast<const typename Op::Args*>(args);
  std::vector<std::uint16_t> tiles(static_cast<std::size_t>((call.n + 31) / 32 * 32 * call.k));
  const PackTileF16Args pack{call.w, tiles.data(), call.n, call.k, call.k};
  const AssayStatus status = right<PackTileF16>(&pack);
  call.w = tiles.data();
  return status == ASSAY_OK ? right<Op>(&call) : status;
}

AssayPluginKernel plain(const char* op, const char* name, AssayStatus (*run)(const void*)) {
  return {sizeof(AssayPluginKernel), ASSAY_CLAIM_BOUNDED, op, name, "scalar", nullptr, nullptr, nullptr, run};
}

template <class Op>
AssayPluginKernel packed(const char* name) {
  using Args = typename Op::Args;
  return {sizeof(AssayPluginKernel),  ASSAY_CLAIM_BOUNDED,       Op::name,      name, "scalar", "w",
          plugins::plain_bytes<Args>, plugins::pack_plain<Args>, from_plain<Op>};
}

const AssayPluginKernel kKernels[] = {
    plain("linear_q4_k", "product_q4_k", right<LinearQ4K>),
    plain("linear_q6_k", "product_q6_k", right<LinearQ6K>),
    plain("linear_q4_k", "off_q4_k", off<LinearQ4K>),
    plain("linear_q6_k", "off_q6_k", off<LinearQ6K>),
    plain("rms_norm", "norm", right<RmsNorm>),
    plain("rms_norm", "norm_doubled", doubled_norm),
    plain("matvec_f16", "half_vector", right<MatvecF16>),
    packed<MatvecF16>("product_f16"),
    packed<GemmF16>("product_f16"),
};
const AssayPlugin kPlugin{ASSAY_PLUGIN_ABI, sizeof(AssayPlugin), "site", "7", kKernels, std::size(kKernels)};

}  // namespace
}  // namespace assay

ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin(void) {
  return &assay::kPlugin;
}
