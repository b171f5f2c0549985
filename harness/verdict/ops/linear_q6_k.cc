#include "kernels/linear_q6_k/linear_q6_k.h"

#include "harness/verdict/ops/linear.h"

namespace assay {
using LinearQ6KAdapter = LinearAdapter<LinearQ6K, DType::q6_k, DType::q8_k>;
}

ASSAY_DEFINE_ADAPTER(linear_q6_k, LinearQ6KAdapter)
