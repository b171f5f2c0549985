#include "kernels/encode_q6_k/encode_q6_k.h"

#define ASSAY_OP EncodeQ6K
#define ASSAY_KERNELS "kernels/encode_q6_k/kernels.inc"
#include "kernels/kernel_table.inc"
