#include "harness/verdict/variant.h"

namespace assay {

std::vector<Variant> variants_of(const Op& op) {
  std::vector<Variant> all;
  for (const AnyKernel& kernel : op.kernels()) all.push_back({kernel.name, kernel.isa, kernel.run});
  return all;
}

std::vector<Variant> variants_of(const Op& op, std::span<const RemoteKernel> kernels) {
  std::vector<Variant> all;
  for (const RemoteKernel& kernel : kernels) {
    if (kernel.op == op.name && !kernel.plugin.empty())
      all.push_back({kernel.variant, kernel.isa, nullptr, true, kernel.canonical, kernel.packed_tensor});
  }
  return all;
}

}  // namespace assay
