#include "kernels/embed_f16/embed_f16.h"

#define ASSAY_OP EmbedF16
#define ASSAY_KERNELS "kernels/embed_f16/kernels.inc"
#include "kernels/kernel_table.inc"
