#include "kernels/logits_copy_to_position/logits_copy_to_position.h"

#define ASSAY_OP LogitsCopyToPosition
#define ASSAY_KERNELS "kernels/logits_copy_to_position/kernels.inc"
#include "kernels/kernel_table.inc"
