#include "kernels/decode_q4_k/decode_q4_k.h"

#include "harness/verdict/ops/codec.h"

namespace assay {
using DecodeQ4KAdapter = DecodeAdapter<DecodeQ4K, Format::q4_k>;
}

ASSAY_DEFINE_ADAPTER(decode_q4_k, DecodeQ4KAdapter)
