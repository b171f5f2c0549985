#include "kernels/attn_decode_f32/attn_decode_f32.h"

#include "harness/verdict/ops/attention.h"

namespace assay {
using AttnDecodeF32Adapter =
    AttentionAdapter<AttnDecodeF32, reference::kAttnDecodeF32Contract, reference::attn_decode_f32, DType::f32>;
}

ASSAY_DEFINE_ADAPTER(attn_decode_f32, AttnDecodeF32Adapter)
