#include "kernels/unit.h"

#include ASSAY_HEADER(simd, ASSAY_ISA)
#include ASSAY_HEADER(simd, ASSAY_PASTE(ASSAY_ISA, _f64))

#include "kernels/rope/rotate.h"
#include "kernels/rope/table.h"

namespace assay {

#define ASSAY_OP(op) ASSAY_KERNEL_OF(op, op##_body)
#include ASSAY_ROWS

}  // namespace assay
