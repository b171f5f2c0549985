// Every op's own kernels, as bytes go in and out: what the runner runs and what plugins may name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/op_table.h"

namespace assay {

// In the order of harness/verdict/ops.inc.
std::span<const OpTable> op_tables();

// Null if there is none.
const OpTable* find_op_table(std::string_view op);

}  // namespace assay
