// Keys and values on their way into a cache and between caches, and rows of logits: moves, so the bytes are the truth.
#pragma once

#include "golden/dtype.h"
#include "kernels/kv/kv.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

extern const Contract kKvStoreF32Contract;
extern const Contract kKvStoreF16Contract;
extern const Contract kKvRepackF32Contract;
extern const Contract kKvRepackF16Contract;
extern const Contract kLogitsCopyToPositionContract;

// Throw std::invalid_argument for what the kernel refuses. `cache` is f32 or f16.

// dst [n_kv, tokens, head_dim_padded]: the rows that are written.
void kv_store(DType cache, const KvStoreArgs& args, Expected& dst);
// data [n_kv * max(capacity_src, capacity_dst), row]: the whole buffer, what lies past the new layout too.
void kv_repack(DType cache, const KvRepackArgs& args, Expected& data);
// dst [n_kv, positions, head_dim].
void kv_copy(DType cache, const KvCopyArgs& args, Expected& dst);
// dst [vocab]: the row at `position`.
void logits_copy_to_position(const LogitsCopyToPositionArgs& args, Expected& dst);

}  // namespace assay::reference
