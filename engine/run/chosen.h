// What runs the calls of a step: a variant of its op, or the op's reference. Both take the same arguments.
#pragma once

#include <cstdint>

#include "engine/run/reference_calls.h"
#include "kernels/kernel.h"

namespace assay {

enum class Backend : std::uint8_t { kernels, reference };

struct Chosen {
  Backend backend = Backend::kernels;
  void (*run)() = nullptr;        // the variant with its type taken off: KernelFn of the op that the step names
  const char* name = "";          // "rms_norm_avx2"
  ReferenceSink* sink = nullptr;  // where the reference leaves its truth; may be null
  const void* packed = nullptr;   // of a product: the whole weight in a layout of the kernel's own; then the step is not cut
};

template <class Op>
AssayStatus invoke(const Chosen& chosen, const typename Op::Args& args) {
  if (chosen.backend == Backend::reference) return run_reference(args, chosen.sink);
  return reinterpret_cast<KernelFn<Op>>(chosen.run)(&args);
}

// The best variant of Op not above `limit` that this CPU runs.
template <class Op>
Chosen choose(Isa limit) {
  for (const Kernel<Op>& kernel : kernels<Op>()) {
    if (kernel.isa <= limit && isa_supported(kernel.isa)) {
      return {Backend::kernels, reinterpret_cast<void (*)()>(kernel.run), kernel.name, nullptr};
    }
  }
  throw std::logic_error(std::string(Op::name) + " has no scalar kernel");
}

}  // namespace assay
