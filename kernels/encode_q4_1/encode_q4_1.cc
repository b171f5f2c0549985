#include "kernels/encode_q4_1/encode_q4_1.h"

#define ASSAY_OP EncodeQ41
#define ASSAY_KERNELS "kernels/encode_q4_1/kernels.inc"
#include "kernels/kernel_table.inc"
