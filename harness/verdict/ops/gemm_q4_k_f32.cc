#include "kernels/gemm_q4_k_f32/gemm_q4_k_f32.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemmQ4KF32Adapter = GemmAdapter<GemmQ4KF32, DType::q4_k, DType::f32>;
}

ASSAY_DEFINE_ADAPTER(gemm_q4_k_f32, GemmQ4KF32Adapter)
