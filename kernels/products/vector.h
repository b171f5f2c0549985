/* gemv and gemm of every layout, over an ISA's lanes, dots and sizes of tiles. */
#pragma once

#include "kernels/products/block_gemm.h"
#include "kernels/products/decoded_gemm.h"
#include "kernels/products/decoded_gemv.h"
#include "kernels/products/packed_gemv.h"
#include "kernels/products/plain_gemv.h"
#include "kernels/products/tile_gemm.h"
#include "kernels/products/tile_gemv.h"
