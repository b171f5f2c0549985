#include "kernels/unit.h"

#include ASSAY_HEADER(simd, ASSAY_ISA)

#include "kernels/norms/rms_norm.h"
#include "kernels/norms/softmax.h"

namespace assay {

#define ASSAY_OP(op) ASSAY_KERNEL_OF(op, op##_body)
#include ASSAY_ROWS

}  // namespace assay
