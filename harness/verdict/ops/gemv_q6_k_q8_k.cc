#include "kernels/gemv_q6_k_q8_k/gemv_q6_k_q8_k.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemvQ6KQ8KAdapter = GemvAdapter<GemvQ6KQ8K, DType::q6_k, DType::q8_k>;
}

ASSAY_DEFINE_ADAPTER(gemv_q6_k_q8_k, GemvQ6KQ8KAdapter)
