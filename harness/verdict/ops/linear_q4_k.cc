#include "kernels/linear_q4_k/linear_q4_k.h"

#include "harness/verdict/ops/linear.h"

namespace assay {
using LinearQ4KAdapter = LinearAdapter<LinearQ4K, DType::q4_k, DType::q8_k>;
}

ASSAY_DEFINE_ADAPTER(linear_q4_k, LinearQ4KAdapter)
