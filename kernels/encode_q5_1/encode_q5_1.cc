#include "kernels/encode_q5_1/encode_q5_1.h"

#define ASSAY_OP EncodeQ51
#define ASSAY_KERNELS "kernels/encode_q5_1/kernels.inc"
#include "kernels/kernel_table.inc"
