#include "kernels/linear_q5_k/linear_q5_k.h"

#include "harness/verdict/ops/linear.h"

namespace assay {
using LinearQ5KAdapter = LinearAdapter<LinearQ5K, DType::q5_k, DType::q8_k>;
}

ASSAY_DEFINE_ADAPTER(linear_q5_k, LinearQ5KAdapter)
