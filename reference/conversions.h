// Conversions between f32, f16 and bf16: the destination's bytes. NaN keeps sign and top payload bits, quietened.
#pragma once

#include "golden/dtype.h"
#include "kernels/conversions/conversions.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

// From f32 to f16 or bf16, or back.
void convert(DType from, DType to, const ConvertArgs& args, Expected& dst);

}  // namespace assay::reference
