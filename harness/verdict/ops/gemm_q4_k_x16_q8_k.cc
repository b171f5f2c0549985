#include "kernels/gemm_q4_k_x16_q8_k/gemm_q4_k_x16_q8_k.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemmQ4KX16Q8KAdapter = GemmAdapter<GemmQ4KX16Q8K, DType::q4_k_x16, DType::q8_k>;
}

ASSAY_DEFINE_ADAPTER(gemm_q4_k_x16_q8_k, GemmQ4KX16Q8KAdapter)
