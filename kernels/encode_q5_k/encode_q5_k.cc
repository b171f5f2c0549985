#include "kernels/encode_q5_k/encode_q5_k.h"

#define ASSAY_OP EncodeQ5K
#define ASSAY_KERNELS "kernels/encode_q5_k/kernels.inc"
#include "kernels/kernel_table.inc"
