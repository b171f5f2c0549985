#include "kernels/gemm_f32/gemm_f32.h"

#include "harness/verdict/ops/matvec.h"

namespace assay {
using GemmF32Adapter = TileGemmAdapter<GemmF32, reference::kGemmF32Contract, reference::gemm_f32, DType::f32>;
}

ASSAY_DEFINE_ADAPTER(gemm_f32, GemmF32Adapter)
