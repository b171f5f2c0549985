/* AVX-VNNI's products in the encoding of AVX-512: for machines without AVX-VNNI. */
#pragma once

#include "kernels/products/avxvnni.h"
