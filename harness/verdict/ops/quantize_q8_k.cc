#include "kernels/quantize_q8_k/quantize_q8_k.h"

#include "harness/verdict/ops/quantize.h"

namespace assay {
using QuantizeQ8KAdapter = QuantizeAdapter<QuantizeQ8K, Format::q8_k>;
}

ASSAY_DEFINE_ADAPTER(quantize_q8_k, QuantizeQ8KAdapter)
