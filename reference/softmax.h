// y = e^(x - max) / sum e^(x - max), row by row.
#pragma once

#include "kernels/norms/norms.h"
#include "reference/arithmetic.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

extern const Contract kSoftmaxContract;

void softmax(const SoftmaxArgs& args, Expected& y);
void declared_softmax(const SoftmaxArgs& args, const Arithmetic& how, Expected& y);

}  // namespace assay::reference
