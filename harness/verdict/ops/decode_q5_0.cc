#include "kernels/decode_q5_0/decode_q5_0.h"

#include "harness/verdict/ops/codec.h"

namespace assay {
using DecodeQ50Adapter = DecodeAdapter<DecodeQ50, Format::q5_0>;
}

ASSAY_DEFINE_ADAPTER(decode_q5_0, DecodeQ50Adapter)
