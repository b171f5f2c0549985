#include "kernels/quantize_q8_0/quantize_q8_0.h"

#define ASSAY_OP QuantizeQ80
#define ASSAY_KERNELS "kernels/quantize_q8_0/kernels.inc"
#include "kernels/kernel_table.inc"
