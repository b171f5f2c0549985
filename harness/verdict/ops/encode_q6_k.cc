#include "kernels/encode_q6_k/encode_q6_k.h"

#include "harness/verdict/ops/codec.h"

namespace assay {
using EncodeQ6KAdapter = EncodeKAdapter<EncodeQ6K, Format::q6_k>;
}

ASSAY_DEFINE_ADAPTER(encode_q6_k, EncodeQ6KAdapter)
