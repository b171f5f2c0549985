#include "kernels/kv_copy_f16/kv_copy_f16.h"

#define ASSAY_OP KvCopyF16
#define ASSAY_KERNELS "kernels/kv_copy_f16/kernels.inc"
#include "kernels/kernel_table.inc"
