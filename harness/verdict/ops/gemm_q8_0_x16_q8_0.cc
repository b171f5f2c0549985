#include "kernels/gemm_q8_0_x16_q8_0/gemm_q8_0_x16_q8_0.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemmQ80X16Q80Adapter = GemmAdapter<GemmQ80X16Q80, DType::q8_0_x16, DType::q8_0>;
}

ASSAY_DEFINE_ADAPTER(gemm_q8_0_x16_q8_0, GemmQ80X16Q80Adapter)
