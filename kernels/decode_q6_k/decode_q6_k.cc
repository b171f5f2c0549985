#include "kernels/decode_q6_k/decode_q6_k.h"

#define ASSAY_OP DecodeQ6K
#define ASSAY_KERNELS "kernels/decode_q6_k/kernels.inc"
#include "kernels/kernel_table.inc"
