#include "kernels/matvec_bf16/matvec_bf16.h"

#include "harness/verdict/ops/matvec.h"

namespace assay {
using MatvecBf16Adapter = MatvecAdapter<MatvecBf16, reference::kMatvecBf16Contract, reference::matvec_bf16, DType::bf16>;
}

ASSAY_DEFINE_ADAPTER(matvec_bf16, MatvecBf16Adapter)
