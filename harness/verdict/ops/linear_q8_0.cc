#include "kernels/linear_q8_0/linear_q8_0.h"

#include "harness/verdict/ops/linear.h"

namespace assay {
using LinearQ80Adapter = LinearAdapter<LinearQ80, DType::q8_0, DType::q8_0>;
}

ASSAY_DEFINE_ADAPTER(linear_q8_0, LinearQ80Adapter)
