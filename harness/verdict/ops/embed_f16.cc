#include "kernels/embed_f16/embed_f16.h"

#include "harness/verdict/ops/embed.h"

namespace assay {
using EmbedF16Adapter = EmbedAdapter<EmbedF16, reference::kEmbedF16Contract, reference::embed_f16, DType::f16>;
}

ASSAY_DEFINE_ADAPTER(embed_f16, EmbedF16Adapter)
