#include "kernels/encode_q4_0/encode_q4_0.h"

#include "harness/verdict/ops/codec.h"

namespace assay {
using EncodeQ40Adapter = EncodeAdapter<EncodeQ40, Format::q4_0>;
}

ASSAY_DEFINE_ADAPTER(encode_q4_0, EncodeQ40Adapter)
