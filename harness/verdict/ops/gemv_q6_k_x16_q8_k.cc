#include "kernels/gemv_q6_k_x16_q8_k/gemv_q6_k_x16_q8_k.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemvQ6KX16Q8KAdapter = GemvAdapter<GemvQ6KX16Q8K, DType::q6_k_x16, DType::q8_k>;
}

ASSAY_DEFINE_ADAPTER(gemv_q6_k_x16_q8_k, GemvQ6KX16Q8KAdapter)
