#include "kernels/quantize_q8_0/quantize_q8_0.h"

#include "harness/verdict/ops/quantize.h"

namespace assay {
using QuantizeQ80Adapter = QuantizeAdapter<QuantizeQ80, Format::q8_0>;
}

ASSAY_DEFINE_ADAPTER(quantize_q8_0, QuantizeQ80Adapter)
