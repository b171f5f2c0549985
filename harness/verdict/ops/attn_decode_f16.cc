#include "kernels/attn_decode_f16/attn_decode_f16.h"

#include "harness/verdict/ops/attention.h"

namespace assay {
using AttnDecodeF16Adapter =
    AttentionAdapter<AttnDecodeF16, reference::kAttnDecodeF16Contract, reference::attn_decode_f16, DType::f16>;
}

ASSAY_DEFINE_ADAPTER(attn_decode_f16, AttnDecodeF16Adapter)
