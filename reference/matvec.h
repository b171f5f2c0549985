// Matrix times vector and matrix over tile-major f16, f32 and bf16 weights.
#pragma once

#include "golden/dtype.h"
#include "kernels/products/products.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

extern const Contract kMatvecContract;

// `weights` is f16, f32 or bf16.
void matvec(DType weights, const ProductArgs& args, Expected& y);

}  // namespace assay::reference
