#include "kernels/gemv_q6_k_x16_q8_k/gemv_q6_k_x16_q8_k.h"

#define ASSAY_OP GemvQ6KX16Q8K
#define ASSAY_KERNELS "kernels/gemv_q6_k_x16_q8_k/kernels.inc"
#include "kernels/kernel_table.inc"
