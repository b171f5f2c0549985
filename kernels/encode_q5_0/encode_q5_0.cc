#include "kernels/encode_q5_0/encode_q5_0.h"

#define ASSAY_OP EncodeQ50
#define ASSAY_KERNELS "kernels/encode_q5_0/kernels.inc"
#include "kernels/kernel_table.inc"
