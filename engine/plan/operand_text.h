// Operands in words: "normed.q8_k", "qkv[0..511]".
#pragma once

#include <string>
#include <vector>

#include "engine/plan/plan.h"

namespace assay {

std::string operands_text(const Plan& plan, const std::vector<Operand>& operands);
// "the cache" where a step writes no slot.
std::string outputs_text(const Plan& plan, const Step& step);

}  // namespace assay
