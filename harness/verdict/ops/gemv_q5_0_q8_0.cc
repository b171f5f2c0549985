#include "kernels/gemv_q5_0_q8_0/gemv_q5_0_q8_0.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemvQ50Q80Adapter = GemvAdapter<GemvQ50Q80, DType::q5_0, DType::q8_0>;
}

ASSAY_DEFINE_ADAPTER(gemv_q5_0_q8_0, GemvQ50Q80Adapter)
