#include "kernels/encode_q4_0/encode_q4_0.h"

#define ASSAY_OP EncodeQ40
#define ASSAY_KERNELS "kernels/encode_q4_0/kernels.inc"
#include "kernels/kernel_table.inc"
