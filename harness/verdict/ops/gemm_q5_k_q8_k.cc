#include "kernels/gemm_q5_k_q8_k/gemm_q5_k_q8_k.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemmQ5KQ8KAdapter = GemmAdapter<GemmQ5KQ8K, DType::q5_k, DType::q8_k>;
}

ASSAY_DEFINE_ADAPTER(gemm_q5_k_q8_k, GemmQ5KQ8KAdapter)
