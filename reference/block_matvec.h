// gemv and gemm of blocks by f32 activations: the weights decoded to f32, then a matvec.
#pragma once

#include "kernels/products/products.h"
#include "reference/blocks.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

extern const Contract kBlockMatvecContract;

void block_matvec(Format weights, const ProductArgs& args, Expected& y);

}  // namespace assay::reference
