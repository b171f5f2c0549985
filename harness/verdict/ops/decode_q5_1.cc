#include "kernels/decode_q5_1/decode_q5_1.h"

#include "harness/verdict/ops/codec.h"

namespace assay {
using DecodeQ51Adapter = DecodeAdapter<DecodeQ51, Format::q5_1>;
}

ASSAY_DEFINE_ADAPTER(decode_q5_1, DecodeQ51Adapter)
