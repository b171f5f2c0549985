#include "kernels/gemm_q4_0_q8_0/gemm_q4_0_q8_0.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemmQ40Q80Adapter = GemmAdapter<GemmQ40Q80, DType::q4_0, DType::q8_0>;
}

ASSAY_DEFINE_ADAPTER(gemm_q4_0_q8_0, GemmQ40Q80Adapter)
