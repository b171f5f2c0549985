#include "kernels/gemv_q8_0_f32/gemv_q8_0_f32.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemvQ80F32Adapter = GemvAdapter<GemvQ80F32, DType::q8_0, DType::f32>;
}

ASSAY_DEFINE_ADAPTER(gemv_q8_0_f32, GemvQ80F32Adapter)
