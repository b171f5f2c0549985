#include "harness/verdict/variant.h"

namespace assay {

std::vector<Variant> variants_of(const Op& op) {
  std::vector<Variant> all;
  for (const AnyKernel& kernel : op.kernels()) all.push_back({kernel.name, kernel.isa, kernel.run});
  return all;
}

std::vector<Variant> variants_of(const Op& op, const LoadedPlugin& plugin) {
  std::vector<Variant> all;
  for (const AssayPluginKernel& kernel : plugin.kernels) {
    if (kernel.op != std::string_view(op.name)) continue;
    Variant& one = all.emplace_back(plugin.name + ":" + kernel.name, LoadedPlugin::isa_of(kernel), kernel.run, true);
    one.traits = LoadedPlugin::traits_of(kernel);
    if (kernel.pack != nullptr) one.packing = {kernel.packed_tensor, kernel.packed_bytes, kernel.pack};
  }
  return all;
}

}  // namespace assay
