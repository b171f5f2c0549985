#include "kernels/pack_tile_f32/pack_tile_f32.h"

#define ASSAY_OP PackTileF32
#define ASSAY_KERNELS "kernels/pack_tile_f32/kernels.inc"
#include "kernels/kernel_table.inc"
