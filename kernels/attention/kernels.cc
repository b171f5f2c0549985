#include "kernels/unit.h"

#include ASSAY_HEADER(simd, ASSAY_ISA)

#include "kernels/attention/decode.h"
#include "kernels/attention/prefill.h"

namespace assay {

#define ASSAY_OP(op, form, cache) ASSAY_KERNEL_OF(op, attn_##form<element::cache, registers::ASSAY_ISA>)
#include ASSAY_ROWS

}  // namespace assay
