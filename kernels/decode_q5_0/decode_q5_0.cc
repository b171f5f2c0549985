#include "kernels/decode_q5_0/decode_q5_0.h"

#define ASSAY_OP DecodeQ50
#define ASSAY_KERNELS "kernels/decode_q5_0/kernels.inc"
#include "kernels/kernel_table.inc"
