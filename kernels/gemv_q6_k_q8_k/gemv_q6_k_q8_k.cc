#include "kernels/gemv_q6_k_q8_k/gemv_q6_k_q8_k.h"

#define ASSAY_OP GemvQ6KQ8K
#define ASSAY_KERNELS "kernels/gemv_q6_k_q8_k/kernels.inc"
#include "kernels/kernel_table.inc"
