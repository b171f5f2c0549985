#include "kernels/linear_q5_0/linear_q5_0.h"

#include "harness/verdict/ops/linear.h"

namespace assay {
using LinearQ50Adapter = LinearAdapter<LinearQ50, DType::q5_0, DType::q8_0>;
}

ASSAY_DEFINE_ADAPTER(linear_q5_0, LinearQ50Adapter)
