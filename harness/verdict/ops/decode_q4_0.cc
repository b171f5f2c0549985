#include "kernels/decode_q4_0/decode_q4_0.h"

#include "harness/verdict/ops/codec.h"

namespace assay {
using DecodeQ40Adapter = DecodeAdapter<DecodeQ40, Format::q4_0>;
}

ASSAY_DEFINE_ADAPTER(decode_q4_0, DecodeQ40Adapter)
