#include "kernels/decode_q5_k/decode_q5_k.h"

#include "harness/verdict/ops/codec.h"

namespace assay {
using DecodeQ5KAdapter = DecodeAdapter<DecodeQ5K, Format::q5_k>;
}

ASSAY_DEFINE_ADAPTER(decode_q5_k, DecodeQ5KAdapter)
