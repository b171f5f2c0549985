#include "kernels/kv_repack_f16/kv_repack_f16.h"

#define ASSAY_OP KvRepackF16
#define ASSAY_KERNELS "kernels/kv_repack_f16/kernels.inc"
#include "kernels/kernel_table.inc"
