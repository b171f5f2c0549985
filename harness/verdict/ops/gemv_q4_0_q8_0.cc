#include "kernels/gemv_q4_0_q8_0/gemv_q4_0_q8_0.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemvQ40Q80Adapter = GemvAdapter<GemvQ40Q80, DType::q4_0, DType::q8_0>;
}

ASSAY_DEFINE_ADAPTER(gemv_q4_0_q8_0, GemvQ40Q80Adapter)
