#include "kernels/encode_q5_0/encode_q5_0.h"

#include "harness/verdict/ops/codec.h"

namespace assay {
using EncodeQ50Adapter = EncodeAdapter<EncodeQ50, Format::q5_0>;
}

ASSAY_DEFINE_ADAPTER(encode_q5_0, EncodeQ50Adapter)
