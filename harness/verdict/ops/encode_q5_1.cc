#include "kernels/encode_q5_1/encode_q5_1.h"

#include "harness/verdict/ops/codec.h"

namespace assay {
using EncodeQ51Adapter = EncodeAdapter<EncodeQ51, Format::q5_1>;
}

ASSAY_DEFINE_ADAPTER(encode_q5_1, EncodeQ51Adapter)
