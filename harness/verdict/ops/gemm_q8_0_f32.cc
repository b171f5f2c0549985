#include "kernels/gemm_q8_0_f32/gemm_q8_0_f32.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemmQ80F32Adapter = GemmAdapter<GemmQ80F32, DType::q8_0, DType::f32>;
}

ASSAY_DEFINE_ADAPTER(gemm_q8_0_f32, GemmQ80F32Adapter)
