#include "kernels/decode_q4_1/decode_q4_1.h"

#include "harness/verdict/ops/codec.h"

namespace assay {
using DecodeQ41Adapter = DecodeAdapter<DecodeQ41, Format::q4_1>;
}

ASSAY_DEFINE_ADAPTER(decode_q4_1, DecodeQ41Adapter)
