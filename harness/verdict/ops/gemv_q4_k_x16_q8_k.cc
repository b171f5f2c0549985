#include "kernels/gemv_q4_k_x16_q8_k/gemv_q4_k_x16_q8_k.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemvQ4KX16Q8KAdapter = GemvAdapter<GemvQ4KX16Q8K, DType::q4_k_x16, DType::q8_k>;
}

ASSAY_DEFINE_ADAPTER(gemv_q4_k_x16_q8_k, GemvQ4KX16Q8KAdapter)
