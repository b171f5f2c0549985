#include "kernels/attn_prefill_f32/attn_prefill_f32.h"

#define ASSAY_OP AttnPrefillF32
#define ASSAY_KERNELS "kernels/attn_prefill_f32/kernels.inc"
#include "kernels/kernel_table.inc"
