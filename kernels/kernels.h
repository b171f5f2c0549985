/* Every op's argument struct, and the kernel that this CPU runs it with: what a program needs that calls kernels. C11 and C++20.

   #include "kernels/kernels.h"

   AssayKernel* const rms_norm = assay_find_kernel("rms_norm", NULL);
   const RmsNormArgs args = {.x = x, .w = w, .y = y, .rows = 1, .n = 1024, .x_stride = 1024, .y_stride = 1024, .eps = 1e-6F};
   if (rms_norm == NULL || rms_norm(&args) != ASSAY_OK) ...

   Nothing here allocates or keeps anything but what CPUID said; any thread may call it at any time. */
#pragma once

#include <stddef.h>

#include "kernels/abi.h"
#include "kernels/activations/activations.h"
#include "kernels/attention/attention.h"
#include "kernels/codecs/codecs.h"
#include "kernels/conversions/conversions.h"
#include "kernels/kv/kv.h"
#include "kernels/lookups/lookups.h"
#include "kernels/norms/norms.h"
#include "kernels/packings/packings.h"
#include "kernels/products/products.h"
#include "kernels/rope/rope.h"

ASSAY_C_BEGIN

/* `args`: the argument struct of the op's family, whose header is its specification. */
typedef AssayStatus AssayKernel(const void* args);

/* The kernel of `op` (a name of `assay list`) for this CPU: the most preferred one among those that `isa` includes. NULL for `isa`:
   what the environment's ASSAY_ISA says, else the best. Null where there is no such op, or no such ISA on this machine; for a known
   op without a limit there always is one. */
AssayKernel* assay_find_kernel(const char* op, const char* isa);

/* Why assay_find_kernel(op, isa) is null, one sentence into `text` of `bytes` bytes; returns its whole length, as snprintf does. 0 and
   an empty text where it is not. */
size_t assay_explain_kernel(const char* op, const char* isa, char* text, size_t bytes);

/* What in the calling thread's floating-point environment breaks every bound and every digest, a sentence; null if nothing does:
   rounding is to nearest, denormals are kept. */
const char* assay_float_fault(void);

ASSAY_C_END
