// A plugin of right kernels that ask for an ISA, which not every CPU has.
#include <cstdint>
#include <iterator>

#include "harness/plugin/assay_plugin.h"
#include "kernels/activations/activations.h"

namespace {

using assay::AddArgs;
using assay::AssayPluginKernel;
using assay::AssayStatus;

AssayStatus add(const void* args) {
  const auto& a = *static_cast<const AddArgs*>(args);
  if (!assay_add_sizes(&a)) return assay::ASSAY_BAD_SHAPE;
  for (std::int64_t i = 0; i < a.n; ++i) a.y[i] = a.a[i] + a.b[i];
  return assay::ASSAY_OK;
}

constexpr AssayPluginKernel kernel(const char* name, const char* isa) {
  return {sizeof(AssayPluginKernel), assay::ASSAY_CLAIM_BOUNDED, "add", name, isa, nullptr, nullptr, nullptr, add, nullptr};
}

constexpr AssayPluginKernel kKernels[] = {
    kernel("any", "scalar"),
#if defined(__x86_64__)
    kernel("of_avx512", "avx512"),
    kernel("of_avxvnni", "avxvnni"),
    kernel("of_amx_int8", "amx_int8"),
#endif
};
constexpr assay::AssayPlugin kPlugin = {ASSAY_PLUGIN_ABI, sizeof(assay::AssayPlugin), "isas", "1", kKernels, std::size(kKernels)};

}  // namespace

ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin() {
  return &kPlugin;
}
