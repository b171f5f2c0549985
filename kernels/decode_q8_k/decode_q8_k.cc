#include "kernels/decode_q8_k/decode_q8_k.h"

#define ASSAY_OP DecodeQ8K
#define ASSAY_KERNELS "kernels/decode_q8_k/kernels.inc"
#include "kernels/kernel_table.inc"
