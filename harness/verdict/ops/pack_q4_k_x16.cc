#include "kernels/pack_q4_k_x16/pack_q4_k_x16.h"

#include "harness/verdict/ops/pack_x16.h"

namespace assay {
using PackQ4KX16Adapter = PackAdapter<PackQ4KX16, DType::q4_k_x16, Format::q4_k>;
}

ASSAY_DEFINE_ADAPTER(pack_q4_k_x16, PackQ4KX16Adapter)
