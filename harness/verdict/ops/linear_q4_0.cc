#include "kernels/linear_q4_0/linear_q4_0.h"

#include "harness/verdict/ops/linear.h"

namespace assay {
using LinearQ40Adapter = LinearAdapter<LinearQ40, DType::q4_0, DType::q8_0>;
}

ASSAY_DEFINE_ADAPTER(linear_q4_0, LinearQ40Adapter)
