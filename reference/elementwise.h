// Ops whose outputs do not know of each other: exp, add, swiglu.
#pragma once

#include "kernels/activations/activations.h"
#include "reference/arithmetic.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

extern const Contract kExpContract;
extern const Contract kAddContract;
extern const Contract kSwigluContract;

void exp(const ExpArgs& args, Expected& y);
void add(const AddArgs& args, Expected& y);
void swiglu(const SwigluArgs& args, Expected& y);

// In declared arithmetic.
void declared_exp(const ExpArgs& args, const Arithmetic& how, Expected& y);
void declared_add(const AddArgs& args, const Arithmetic& how, Expected& y);
void declared_swiglu(const SwigluArgs& args, const Arithmetic& how, Expected& y);

}  // namespace assay::reference
