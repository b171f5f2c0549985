#include "kernels/encode_q4_1/encode_q4_1.h"

#include "harness/verdict/ops/codec.h"

namespace assay {
using EncodeQ41Adapter = EncodeAdapter<EncodeQ41, Format::q4_1>;
}

ASSAY_DEFINE_ADAPTER(encode_q4_1, EncodeQ41Adapter)
