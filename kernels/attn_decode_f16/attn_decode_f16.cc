#include "kernels/attn_decode_f16/attn_decode_f16.h"

#define ASSAY_OP AttnDecodeF16
#define ASSAY_KERNELS "kernels/attn_decode_f16/kernels.inc"
#include "kernels/kernel_table.inc"
