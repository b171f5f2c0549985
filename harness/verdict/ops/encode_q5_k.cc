#include "kernels/encode_q5_k/encode_q5_k.h"

#include "harness/verdict/ops/codec.h"

namespace assay {
using EncodeQ5KAdapter = EncodeKAdapter<EncodeQ5K, Format::q5_k>;
}

ASSAY_DEFINE_ADAPTER(encode_q5_k, EncodeQ5KAdapter)
