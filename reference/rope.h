// Rotary position embedding: the table of angles' cosines and sines, and its application.
#pragma once

#include "kernels/rope/rope.h"
#include "reference/arithmetic.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

extern const Contract kRopeTableContract;
extern const Contract kRopeContract;

// Throw std::invalid_argument for what the kernel refuses.
void rope_table(const RopeTableArgs& args, Expected& cos, Expected& sin);
// Copied dimensions have bound 0: y equals x.
void rope(const RopeArgs& args, Expected& y);
void declared_rope(const RopeArgs& args, const Arithmetic& how, Expected& y);

}  // namespace assay::reference
