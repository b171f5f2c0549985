// Products of floats in declared arithmetic: the definition over operands that are rounded as declared, and the bound of its sums.
#pragma once

#include "golden/dtype.h"
#include "kernels/products/products.h"
#include "reference/arithmetic.h"
#include "reference/expected.h"

namespace assay::reference {

// `weights`: tile-major f16, f32, bf16, or blocks of plain rows; x holds floats.
void declared_product(DType weights, const ProductArgs& args, const Arithmetic& how, Expected& y);

}  // namespace assay::reference
