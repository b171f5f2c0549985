#include "kernels/decode_q4_k/decode_q4_k.h"

#define ASSAY_OP DecodeQ4K
#define ASSAY_KERNELS "kernels/decode_q4_k/kernels.inc"
#include "kernels/kernel_table.inc"
