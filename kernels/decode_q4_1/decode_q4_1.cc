#include "kernels/decode_q4_1/decode_q4_1.h"

#define ASSAY_OP DecodeQ41
#define ASSAY_KERNELS "kernels/decode_q4_1/kernels.inc"
#include "kernels/kernel_table.inc"
