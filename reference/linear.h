// Quantisation of the activations and product in one step: the quantisers' blocks exactly, then the blocks' product, whose sums
// may be taken in any order.
#pragma once

#include "kernels/products/products.h"
#include "reference/arithmetic.h"
#include "reference/blocks.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

extern const Contract kLinearContract;

// `x` is the format that the activations, floats, are quantised to.
void linear(Format weights, Format x, const ProductArgs& args, Expected& y);

// The same in declared arithmetic.
void declared_linear(Format weights, Format x, const ProductArgs& args, const Arithmetic& how, Expected& y);
// Blocks by blocks in declared arithmetic; `weights` may be packed.
void declared_blocks(DType weights, Format x, const ProductArgs& args, const Arithmetic& how, Expected& y);

// What a kernel must return for them.
AssayStatus linear_status(Format weights, Format x, const ProductArgs& args);

}  // namespace assay::reference
