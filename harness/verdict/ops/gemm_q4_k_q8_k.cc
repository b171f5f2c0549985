#include "kernels/gemm_q4_k_q8_k/gemm_q4_k_q8_k.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemmQ4KQ8KAdapter = GemmAdapter<GemmQ4KQ8K, DType::q4_k, DType::q8_k>;
}

ASSAY_DEFINE_ADAPTER(gemm_q4_k_q8_k, GemmQ4KQ8KAdapter)
