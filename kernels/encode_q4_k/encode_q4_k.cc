#include "kernels/encode_q4_k/encode_q4_k.h"

#define ASSAY_OP EncodeQ4K
#define ASSAY_KERNELS "kernels/encode_q4_k/kernels.inc"
#include "kernels/kernel_table.inc"
