#include "kernels/pack_q8_0_x16/pack_q8_0_x16.h"

#include "harness/verdict/ops/pack_x16.h"

namespace assay {
using PackQ80X16Adapter = PackAdapter<PackQ80X16, DType::q8_0_x16, Format::q8_0>;
}

ASSAY_DEFINE_ADAPTER(pack_q8_0_x16, PackQ80X16Adapter)
