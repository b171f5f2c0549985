#include "kernels/gemv_q5_k_q8_k/gemv_q5_k_q8_k.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemvQ5KQ8KAdapter = GemvAdapter<GemvQ5KQ8K, DType::q5_k, DType::q8_k>;
}

ASSAY_DEFINE_ADAPTER(gemv_q5_k_q8_k, GemvQ5KQ8KAdapter)
