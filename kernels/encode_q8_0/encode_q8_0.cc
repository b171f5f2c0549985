#include "kernels/encode_q8_0/encode_q8_0.h"

#define ASSAY_OP EncodeQ80
#define ASSAY_KERNELS "kernels/encode_q8_0/kernels.inc"
#include "kernels/kernel_table.inc"
