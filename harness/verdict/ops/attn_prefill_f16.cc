#include "kernels/attn_prefill_f16/attn_prefill_f16.h"

#include "harness/verdict/ops/attention.h"

namespace assay {
using AttnPrefillF16Adapter =
    AttentionAdapter<AttnPrefillF16, reference::kAttnPrefillF16Contract, reference::attn_prefill_f16, DType::f16>;
}

ASSAY_DEFINE_ADAPTER(attn_prefill_f16, AttnPrefillF16Adapter)
