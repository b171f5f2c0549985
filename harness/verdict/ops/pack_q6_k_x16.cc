#include "kernels/pack_q6_k_x16/pack_q6_k_x16.h"

#include "harness/verdict/ops/pack_x16.h"

namespace assay {
using PackQ6KX16Adapter = PackAdapter<PackQ6KX16, DType::q6_k_x16, Format::q6_k>;
}

ASSAY_DEFINE_ADAPTER(pack_q6_k_x16, PackQ6KX16Adapter)
