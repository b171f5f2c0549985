#include "kernels/gemm_q8_0_q8_0/gemm_q8_0_q8_0.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemmQ80Q80Adapter = GemmAdapter<GemmQ80Q80, DType::q8_0, DType::q8_0>;
}

ASSAY_DEFINE_ADAPTER(gemm_q8_0_q8_0, GemmQ80Q80Adapter)
