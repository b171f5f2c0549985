#include "kernels/unpack_tile_f32/unpack_tile_f32.h"

#define ASSAY_OP UnpackTileF32
#define ASSAY_KERNELS "kernels/unpack_tile_f32/kernels.inc"
#include "kernels/kernel_table.inc"
