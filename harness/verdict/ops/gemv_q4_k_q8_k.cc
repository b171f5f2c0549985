#include "kernels/gemv_q4_k_q8_k/gemv_q4_k_q8_k.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemvQ4KQ8KAdapter = GemvAdapter<GemvQ4KQ8K, DType::q4_k, DType::q8_k>;
}

ASSAY_DEFINE_ADAPTER(gemv_q4_k_q8_k, GemvQ4KQ8KAdapter)
