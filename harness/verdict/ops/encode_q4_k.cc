#include "kernels/encode_q4_k/encode_q4_k.h"

#include "harness/verdict/ops/codec.h"

namespace assay {
using EncodeQ4KAdapter = EncodeKAdapter<EncodeQ4K, Format::q4_k>;
}

ASSAY_DEFINE_ADAPTER(encode_q4_k, EncodeQ4KAdapter)
