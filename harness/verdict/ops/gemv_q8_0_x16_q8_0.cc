#include "kernels/gemv_q8_0_x16_q8_0/gemv_q8_0_x16_q8_0.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemvQ80X16Q80Adapter = GemvAdapter<GemvQ80X16Q80, DType::q8_0_x16, DType::q8_0>;
}

ASSAY_DEFINE_ADAPTER(gemv_q8_0_x16_q8_0, GemvQ80X16Q80Adapter)
