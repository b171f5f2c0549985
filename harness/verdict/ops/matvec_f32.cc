#include "kernels/matvec_f32/matvec_f32.h"

#include "harness/verdict/ops/matvec.h"

namespace assay {
using MatvecF32Adapter = MatvecAdapter<MatvecF32, reference::kMatvecF32Contract, reference::matvec_f32, DType::f32>;
}

ASSAY_DEFINE_ADAPTER(matvec_f32, MatvecF32Adapter)
