#include "kernels/op_tables.h"

#include <algorithm>
#include <iterator>

namespace assay {
namespace {

constexpr OpTable kTables[] = {
#define ASSAY_TABLE(op)
#define ASSAY_KERNEL(op, isa, args)
#define ASSAY_TABLE_END(op, args) kernel_tables::op,
#include "kernels/op_tables.inc"
#undef ASSAY_TABLE
#undef ASSAY_KERNEL
#undef ASSAY_TABLE_END
};

}  // namespace

const AnyKernel& select_kernel(const OpTable& table, IsaLimit limit) noexcept {
  const CpuFeatures cpu = cpu_features();
  return *std::ranges::find_if(table.kernels, [&](const AnyKernel& kernel) { return isa_allowed(cpu, limit, kernel.isa); });
}

std::span<const OpTable> op_tables() noexcept {
  return kTables;
}

const OpTable* find_op_table(std::string_view op) noexcept {
  const auto* const found = std::ranges::find(kTables, op, &OpTable::op);
  return found == std::end(kTables) ? nullptr : found;
}

}  // namespace assay
