#include "kernels/embed_f32/embed_f32.h"

#define ASSAY_OP EmbedF32
#define ASSAY_KERNELS "kernels/embed_f32/kernels.inc"
#include "kernels/kernel_table.inc"
