#include "kernels/quantize_q8_k/quantize_q8_k.h"

#define ASSAY_OP QuantizeQ8K
#define ASSAY_KERNELS "kernels/quantize_q8_k/kernels.inc"
#include "kernels/kernel_table.inc"
