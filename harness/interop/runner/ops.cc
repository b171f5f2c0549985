#include "harness/interop/runner/ops.h"

namespace assay {

#define ASSAY_OP(op, tag) \
  struct tag;             \
  template <>             \
  OpTable op_table<tag>() noexcept;
#include "harness/verdict/ops.inc"
#undef ASSAY_OP

std::span<const OpTable> op_tables() {
  static const OpTable all[] = {
#define ASSAY_OP(op, tag) op_table<tag>(),
#include "harness/verdict/ops.inc"
#undef ASSAY_OP
  };
  return all;
}

const OpTable* find_op_table(std::string_view op) {
  for (const OpTable& table : op_tables()) {
    if (table.op == op) return &table;
  }
  return nullptr;
}

}  // namespace assay
