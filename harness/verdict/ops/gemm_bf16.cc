#include "kernels/gemm_bf16/gemm_bf16.h"

#include "harness/verdict/ops/matvec.h"

namespace assay {
using GemmBf16Adapter = TileGemmAdapter<GemmBf16, reference::kGemmBf16Contract, reference::gemm_bf16, DType::bf16>;
}

ASSAY_DEFINE_ADAPTER(gemm_bf16, GemmBf16Adapter)
