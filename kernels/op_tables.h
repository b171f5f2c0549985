// Every op's kernels: a table an op, made by kernels/CMakeLists.txt of the rows of kernels/<family>/ops.inc.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "kernels/isa.h"
#include "kernels/kernels.h"

namespace assay {

// One variant of an op. `run` takes the op's argument struct (its family's header) with its type taken off.
struct AnyKernel {
  const char* name;  // <op>_<isa>
  Isa isa;
  AssayStatus (*run)(const void* args) noexcept;
};

struct OpTable {
  const char* op;
  std::size_t args_bytes;              // of the argument struct
  std::span<const AnyKernel> kernels;  // most preferred ISA first, scalar last
};

// The most preferred variant that this CPU runs within `limit`. Every table has one: the scalar kernel.
const AnyKernel& select_kernel(const OpTable& table, IsaLimit limit) noexcept;
// Within forced_isa(), which may throw.
inline const AnyKernel& select_kernel(const OpTable& table) {
  return select_kernel(table, forced_isa());
}

// All of them, family by family, in the order of the rows.
std::span<const OpTable> op_tables() noexcept;
// Null if there is none.
const OpTable* find_op_table(std::string_view op) noexcept;

// The kernels themselves, C functions that take the argument struct by its type: rms_norm_avx2(const RmsNormArgs*).
extern "C" {
#define ASSAY_TABLE(op)
#define ASSAY_KERNEL(op, isa, args) AssayStatus op##_##isa(const args*) noexcept;
#define ASSAY_TABLE_END(op, args)
#include "kernels/op_tables.inc"
#undef ASSAY_TABLE
#undef ASSAY_KERNEL
#undef ASSAY_TABLE_END
}

// kernel_tables::rms_norm and so on.
namespace kernel_tables {

#define ASSAY_TABLE(op) inline constexpr AnyKernel op##_kernels[] = {
#define ASSAY_KERNEL(op, isa, args) \
  {#op "_" #isa, Isa::isa, [](const void* a) noexcept { return op##_##isa(static_cast<const args*>(a)); }},
#define ASSAY_TABLE_END(op, args) \
  }                               \
  ;                               \
  inline constexpr OpTable op = {#op, sizeof(args), op##_kernels};
#include "kernels/op_tables.inc"
#undef ASSAY_TABLE
#undef ASSAY_KERNEL
#undef ASSAY_TABLE_END

}  // namespace kernel_tables
}  // namespace assay
