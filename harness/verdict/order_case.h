// A call in which errors add up as far as an order of sums and a width of its accumulator let them: for kernels that declare these.
#pragma once

#include <optional>

#include "harness/verdict/cases.h"

namespace assay {

inline constexpr const char* kOrder = "order";

// Rows of weights in which one number stands among others of half its last place in f32, f16 or bf16: each that is added to it by itself is
// lost. So a sum that meets more additions than were declared leaves the bound. Of other sums a call like any. Empty: the op has no sum whose order
// may be declared.
std::optional<TestCase> order_case(const Op& op);

}  // namespace assay
