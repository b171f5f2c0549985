#include "kernels/kv_store_f16/kv_store_f16.h"

#define ASSAY_OP KvStoreF16
#define ASSAY_KERNELS "kernels/kv_store_f16/kernels.inc"
#include "kernels/kernel_table.inc"
