#include "kernels/unpack_q4_k_x16/unpack_q4_k_x16.h"

#include "harness/verdict/ops/pack_x16.h"

namespace assay {
using UnpackQ4KX16Adapter = UnpackAdapter<UnpackQ4KX16, DType::q4_k_x16, Format::q4_k>;
}

ASSAY_DEFINE_ADAPTER(unpack_q4_k_x16, UnpackQ4KX16Adapter)
