#include "kernels/embed_bf16/embed_bf16.h"

#define ASSAY_OP EmbedBf16
#define ASSAY_KERNELS "kernels/embed_bf16/kernels.inc"
#include "kernels/kernel_table.inc"
