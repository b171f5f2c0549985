#include "kernels/decode_q6_k/decode_q6_k.h"

#include "harness/verdict/ops/codec.h"

namespace assay {
using DecodeQ6KAdapter = DecodeAdapter<DecodeQ6K, Format::q6_k>;
}

ASSAY_DEFINE_ADAPTER(decode_q6_k, DecodeQ6KAdapter)
