#include "kernels/decode_q5_k/decode_q5_k.h"

#define ASSAY_OP DecodeQ5K
#define ASSAY_KERNELS "kernels/decode_q5_k/kernels.inc"
#include "kernels/kernel_table.inc"
