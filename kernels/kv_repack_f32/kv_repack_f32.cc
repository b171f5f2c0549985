#include "kernels/kv_repack_f32/kv_repack_f32.h"

#define ASSAY_OP KvRepackF32
#define ASSAY_KERNELS "kernels/kv_repack_f32/kernels.inc"
#include "kernels/kernel_table.inc"
