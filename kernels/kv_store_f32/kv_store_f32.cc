#include "kernels/kv_store_f32/kv_store_f32.h"

#define ASSAY_OP KvStoreF32
#define ASSAY_KERNELS "kernels/kv_store_f32/kernels.inc"
#include "kernels/kernel_table.inc"
