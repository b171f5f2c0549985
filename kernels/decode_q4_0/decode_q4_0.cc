#include "kernels/decode_q4_0/decode_q4_0.h"

#define ASSAY_OP DecodeQ40
#define ASSAY_KERNELS "kernels/decode_q4_0/kernels.inc"
#include "kernels/kernel_table.inc"
