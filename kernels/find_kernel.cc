// What C calls (kernels/kernels.h).
#include <algorithm>

#include "kernels/op_tables.h"
#include "kernels/words.h"

namespace assay {
namespace {

// Of the op whose name begins most like `name`.
std::string_view nearest_op(std::string_view name) noexcept {
  const auto alike = [name](const OpTable& table) { return common_prefix(name, table.op); };
  return std::ranges::max_element(op_tables(), {}, alike)->op;
}

// Null: `why` says why.
AssayKernel* find(const char* op, const char* isa, Words& why) noexcept {
  const OpTable* const table = find_op_table(op);
  if (table == nullptr) {
    why << op << ": no such op; did you mean " << nearest_op(op) << "?";
    return nullptr;
  }
  const bool named = isa != nullptr;
  if (!named) isa = forced_isa_name();
  if (isa == nullptr) return select_kernel(*table, std::nullopt).run;
  const IsaLimit limit = limit_from_name(named ? "" : kForcedIsa, isa, why);
  return limit ? select_kernel(*table, limit).run : nullptr;
}

}  // namespace

AssayKernel* assay_find_kernel(const char* op, const char* isa) {
  Words unheard(nullptr, 0);
  return find(op, isa, unheard);
}

size_t assay_explain_kernel(const char* op, const char* isa, char* text, size_t bytes) {
  Words why(text, bytes);
  find(op, isa, why);
  return why.length();
}

}  // namespace assay
