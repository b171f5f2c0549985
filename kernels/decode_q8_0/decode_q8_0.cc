#include "kernels/decode_q8_0/decode_q8_0.h"

#define ASSAY_OP DecodeQ80
#define ASSAY_KERNELS "kernels/decode_q8_0/kernels.inc"
#include "kernels/kernel_table.inc"
