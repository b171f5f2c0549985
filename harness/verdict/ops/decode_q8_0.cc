#include "kernels/decode_q8_0/decode_q8_0.h"

#include "harness/verdict/ops/codec.h"

namespace assay {
using DecodeQ80Adapter = DecodeAdapter<DecodeQ80, Format::q8_0>;
}

ASSAY_DEFINE_ADAPTER(decode_q8_0, DecodeQ80Adapter)
