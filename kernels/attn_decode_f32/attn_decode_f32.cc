#include "kernels/attn_decode_f32/attn_decode_f32.h"

#define ASSAY_OP AttnDecodeF32
#define ASSAY_KERNELS "kernels/attn_decode_f32/kernels.inc"
#include "kernels/kernel_table.inc"
