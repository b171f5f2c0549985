#include "kernels/gemm_f16/gemm_f16.h"

#include "harness/verdict/ops/matvec.h"

namespace assay {
using GemmF16Adapter = TileGemmAdapter<GemmF16, reference::kGemmF16Contract, reference::gemm_f16, DType::f16>;
}

ASSAY_DEFINE_ADAPTER(gemm_f16, GemmF16Adapter)
