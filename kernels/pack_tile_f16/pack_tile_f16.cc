#include "kernels/pack_tile_f16/pack_tile_f16.h"

#define ASSAY_OP PackTileF16
#define ASSAY_KERNELS "kernels/pack_tile_f16/kernels.inc"
#include "kernels/kernel_table.inc"
