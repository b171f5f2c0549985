#include "kernels/gemm_q5_0_q8_0/gemm_q5_0_q8_0.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemmQ50Q80Adapter = GemmAdapter<GemmQ50Q80, DType::q5_0, DType::q8_0>;
}

ASSAY_DEFINE_ADAPTER(gemm_q5_0_q8_0, GemmQ50Q80Adapter)
