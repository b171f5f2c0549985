/* Wider registers do not transpose faster. */
#pragma once

#include "kernels/packings/lines_avx2.h"
