#include "kernels/decode_q5_1/decode_q5_1.h"

#define ASSAY_OP DecodeQ51
#define ASSAY_KERNELS "kernels/decode_q5_1/kernels.inc"
#include "kernels/kernel_table.inc"
