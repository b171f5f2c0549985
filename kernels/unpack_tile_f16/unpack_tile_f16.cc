#include "kernels/unpack_tile_f16/unpack_tile_f16.h"

#define ASSAY_OP UnpackTileF16
#define ASSAY_KERNELS "kernels/unpack_tile_f16/kernels.inc"
#include "kernels/kernel_table.inc"
