#include "kernels/unpack_q6_k_x16/unpack_q6_k_x16.h"

#include "harness/verdict/ops/pack_x16.h"

namespace assay {
using UnpackQ6KX16Adapter = UnpackAdapter<UnpackQ6KX16, DType::q6_k_x16, Format::q6_k>;
}

ASSAY_DEFINE_ADAPTER(unpack_q6_k_x16, UnpackQ6KX16Adapter)
