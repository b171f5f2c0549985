#include "kernels/unpack_q8_0_x16/unpack_q8_0_x16.h"

#include "harness/verdict/ops/pack_x16.h"

namespace assay {
using UnpackQ80X16Adapter = UnpackAdapter<UnpackQ80X16, DType::q8_0_x16, Format::q8_0>;
}

ASSAY_DEFINE_ADAPTER(unpack_q8_0_x16, UnpackQ80X16Adapter)
