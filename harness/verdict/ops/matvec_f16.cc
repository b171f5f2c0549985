#include "kernels/matvec_f16/matvec_f16.h"

#include "harness/verdict/ops/matvec.h"

namespace assay {
using MatvecF16Adapter = MatvecAdapter<MatvecF16, reference::kMatvecF16Contract, reference::matvec_f16, DType::f16>;
}

ASSAY_DEFINE_ADAPTER(matvec_f16, MatvecF16Adapter)
