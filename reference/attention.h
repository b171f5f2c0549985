// Attention of query rows against a view of keys and values.
#pragma once

#include "golden/dtype.h"
#include "kernels/attention/attention.h"
#include "reference/arithmetic.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

extern const Contract kAttentionContract;

// Reads no masked row. `cache` is f32 or f16. Throws std::invalid_argument for a view that begins above an unmasked position, and
// for a window without causal.
void attention(DType cache, const AttentionArgs& args, Expected& y);
// In declared arithmetic, of which x is q.
void declared_attention(DType cache, const AttentionArgs& args, const Arithmetic& how, Expected& y);

}  // namespace assay::reference
