// y = x / sqrt(mean(x^2) + eps) * w, row by row.
#pragma once

#include "kernels/norms/norms.h"
#include "reference/arithmetic.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

extern const Contract kRmsNormContract;

void rms_norm(const RmsNormArgs& args, Expected& y);
void declared_rms_norm(const RmsNormArgs& args, const Arithmetic& how, Expected& y);

}  // namespace assay::reference
