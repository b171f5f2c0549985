#include "harness/verdict/adapter.h"

namespace assay {

#define ASSAY_OP(op, tag) const Adapter& op##_adapter();
#include "harness/verdict/ops.inc"
#undef ASSAY_OP

std::span<const Adapter* const> adapters() {
  static const Adapter* const all[] = {
#define ASSAY_OP(op, tag) &op##_adapter(),
#include "harness/verdict/ops.inc"
#undef ASSAY_OP
  };
  return all;
}

const Adapter* find_adapter(std::string_view op) {
  for (const Adapter* adapter : adapters()) {
    if (adapter->op() == op) return adapter;
  }
  return nullptr;
}

}  // namespace assay
