// A kernel is one variant of an op: a name, the ISA it needs and a function. Each op has a table of them.
#pragma once

#include <span>
#include <stdexcept>
#include <string>

#include "kernels/abi.h"
#include "kernels/isa.h"

namespace assay {

// `Op` is the op's tag type: it has `using Args` and `static constexpr const char* name`.
template <class Op>
using KernelFn = AssayStatus (*)(const typename Op::Args*) noexcept;

template <class Op>
struct Kernel {
  const char* name;  // <op>_<isa>
  Isa isa;
  KernelFn<Op> run;
};

// Every variant compiled into this library, best ISA first. The last one is scalar.
template <class Op>
std::span<const Kernel<Op>> kernels() noexcept;

// The best variant of `Op` not above selected_isa().
template <class Op>
const Kernel<Op>& select_kernel() {
  const Isa limit = selected_isa();
  for (const Kernel<Op>& kernel : kernels<Op>()) {
    if (kernel.isa <= limit && isa_supported(kernel.isa)) return kernel;
  }
  throw std::logic_error(std::string(Op::name) + " has no scalar kernel");
}

}  // namespace assay
