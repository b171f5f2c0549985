#include "kernels/gemm_q6_k_q8_k/gemm_q6_k_q8_k.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemmQ6KQ8KAdapter = GemmAdapter<GemmQ6KQ8K, DType::q6_k, DType::q8_k>;
}

ASSAY_DEFINE_ADAPTER(gemm_q6_k_q8_k, GemmQ6KQ8KAdapter)
