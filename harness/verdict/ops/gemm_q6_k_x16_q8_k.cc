#include "kernels/gemm_q6_k_x16_q8_k/gemm_q6_k_x16_q8_k.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemmQ6KX16Q8KAdapter = GemmAdapter<GemmQ6KX16Q8K, DType::q6_k_x16, DType::q8_k>;
}

ASSAY_DEFINE_ADAPTER(gemm_q6_k_x16_q8_k, GemmQ6KX16Q8KAdapter)
