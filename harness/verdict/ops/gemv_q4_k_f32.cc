#include "kernels/gemv_q4_k_f32/gemv_q4_k_f32.h"

#include "harness/verdict/ops/block_dot.h"

namespace assay {
using GemvQ4KF32Adapter = GemvAdapter<GemvQ4KF32, DType::q4_k, DType::f32>;
}

ASSAY_DEFINE_ADAPTER(gemv_q4_k_f32, GemvQ4KF32Adapter)
