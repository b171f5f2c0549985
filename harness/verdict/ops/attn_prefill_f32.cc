#include "kernels/attn_prefill_f32/attn_prefill_f32.h"

#include "harness/verdict/ops/attention.h"

namespace assay {
using AttnPrefillF32Adapter =
    AttentionAdapter<AttnPrefillF32, reference::kAttnPrefillF32Contract, reference::attn_prefill_f32, DType::f32>;
}

ASSAY_DEFINE_ADAPTER(attn_prefill_f32, AttnPrefillF32Adapter)
