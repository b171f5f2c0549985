#include "kernels/kv_copy_f32/kv_copy_f32.h"

#define ASSAY_OP KvCopyF32
#define ASSAY_KERNELS "kernels/kv_copy_f32/kernels.inc"
#include "kernels/kernel_table.inc"
