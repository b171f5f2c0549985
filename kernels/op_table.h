// An op's kernels with their types taken off: for who calls any op by the bytes of its argument struct.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/abi.h"
#include "kernels/isa.h"

namespace assay {

struct AnyKernel {
  const char* name;  // <op>_<isa>
  Isa isa;
  AssayStatus (*run)(const void* args) noexcept;  // args: the op's argument struct
};

struct OpTable {
  const char* op;
  std::size_t args_bytes;  // of the argument struct
  std::span<const AnyKernel> kernels;
};

// kernels<Op>(), in the same order. `Op` may be an incomplete type.
template <class Op>
OpTable op_table() noexcept;

}  // namespace assay
