#include "kernels/embed_f32/embed_f32.h"

#include "harness/verdict/ops/embed.h"

namespace assay {
using EmbedF32Adapter = EmbedAdapter<EmbedF32, reference::kEmbedF32Contract, reference::embed_f32, DType::f32>;
}

ASSAY_DEFINE_ADAPTER(embed_f32, EmbedF32Adapter)
