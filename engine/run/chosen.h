// What runs the calls of a step: a variant of its op, or the op's reference. Both take the same arguments.
#pragma once

#include <cstdint>

#include "reference/ops/op.h"

namespace assay {

enum class Backend : std::uint8_t { kernels, reference };

struct Chosen {
  const Op* op = nullptr;
  Backend backend = Backend::kernels;
  AssayStatus (*run)(const void* args) = nullptr;
  const char* name = "";          // "rms_norm_avx2"
  ReferenceSink* sink = nullptr;  // where the reference leaves its truth; may be null
  const void* packed = nullptr;   // of a product: the whole weight in a layout of the kernel's own; then the step is not cut
};

// `args`: the op's argument struct.
inline AssayStatus invoke(const Chosen& chosen, const void* args) {
  return chosen.backend == Backend::reference ? run_reference(*chosen.op, args, chosen.sink) : chosen.run(args);
}

// The best variant within `limit` that this CPU runs.
inline Chosen choose(const Op& op, IsaLimit limit) {
  const AnyKernel& kernel = select_kernel(*op.table, limit);
  return {.op = &op, .run = kernel.run, .name = kernel.name};
}

}  // namespace assay
