#include "kernels/embed_bf16/embed_bf16.h"

#include "harness/verdict/ops/embed.h"

namespace assay {
using EmbedBf16Adapter = EmbedAdapter<EmbedBf16, reference::kEmbedBf16Contract, reference::embed_bf16, DType::bf16>;
}

ASSAY_DEFINE_ADAPTER(embed_bf16, EmbedBf16Adapter)
