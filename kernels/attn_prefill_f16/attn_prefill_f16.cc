#include "kernels/attn_prefill_f16/attn_prefill_f16.h"

#define ASSAY_OP AttnPrefillF16
#define ASSAY_KERNELS "kernels/attn_prefill_f16/kernels.inc"
#include "kernels/kernel_table.inc"
