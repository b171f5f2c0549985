#include "kernels/encode_q8_0/encode_q8_0.h"

#include "harness/verdict/ops/codec.h"

namespace assay {
using EncodeQ80Adapter = EncodeAdapter<EncodeQ80, Format::q8_0>;
}

ASSAY_DEFINE_ADAPTER(encode_q8_0, EncodeQ80Adapter)
