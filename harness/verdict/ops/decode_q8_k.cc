#include "kernels/decode_q8_k/decode_q8_k.h"

#include "harness/verdict/ops/codec.h"

namespace assay {
using DecodeQ8KAdapter = DecodeAdapter<DecodeQ8K, Format::q8_k>;
}

ASSAY_DEFINE_ADAPTER(decode_q8_k, DecodeQ8KAdapter)
