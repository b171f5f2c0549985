// Attention of query rows against a view of keys and values.
#pragma once

#include "kernels/attn_decode_f16/attn_decode_f16.h"
#include "kernels/attn_decode_f32/attn_decode_f32.h"
#include "kernels/attn_prefill_f16/attn_prefill_f16.h"
#include "kernels/attn_prefill_f32/attn_prefill_f32.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

extern const Contract kAttnDecodeF32Contract;
extern const Contract kAttnDecodeF16Contract;
extern const Contract kAttnPrefillF32Contract;
extern const Contract kAttnPrefillF16Contract;

// Read no masked row. Throw std::invalid_argument for a view that begins above an unmasked position, and for a window
// without causal.
void attn_decode_f32(const AttnDecodeF32Args& args, Expected& y);
void attn_decode_f16(const AttnDecodeF16Args& args, Expected& y);
void attn_prefill_f32(const AttnPrefillF32Args& args, Expected& y);
void attn_prefill_f16(const AttnPrefillF16Args& args, Expected& y);

}  // namespace assay::reference
