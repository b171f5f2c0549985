// Keys and values on their way into a cache and between caches, and rows of logits: moves, so the bytes are the truth.
#pragma once

#include "kernels/kv_copy_f16/kv_copy_f16.h"
#include "kernels/kv_copy_f32/kv_copy_f32.h"
#include "kernels/kv_repack_f16/kv_repack_f16.h"
#include "kernels/kv_repack_f32/kv_repack_f32.h"
#include "kernels/kv_store_f16/kv_store_f16.h"
#include "kernels/kv_store_f32/kv_store_f32.h"
#include "kernels/logits_copy_to_position/logits_copy_to_position.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

extern const Contract kKvStoreF32Contract;
extern const Contract kKvStoreF16Contract;
extern const Contract kKvRepackF32Contract;
extern const Contract kKvRepackF16Contract;
extern const Contract kKvCopyF32Contract;
extern const Contract kKvCopyF16Contract;
extern const Contract kLogitsCopyToPositionContract;

// Throw std::invalid_argument for what the kernel refuses.

// dst [n_kv, tokens, head_dim_padded]: the rows that are written.
void kv_store_f32(const KvStoreF32Args& args, Expected& dst);
void kv_store_f16(const KvStoreF16Args& args, Expected& dst);
// data [n_kv * max(capacity_src, capacity_dst), row]: the whole buffer, what lies past the new layout too.
void kv_repack_f32(const KvRepackF32Args& args, Expected& data);
void kv_repack_f16(const KvRepackF16Args& args, Expected& data);
// dst [n_kv, positions, head_dim].
void kv_copy_f32(const KvCopyF32Args& args, Expected& dst);
void kv_copy_f16(const KvCopyF16Args& args, Expected& dst);
// dst [vocab]: the row at `position`.
void logits_copy_to_position(const LogitsCopyToPositionArgs& args, Expected& dst);

}  // namespace assay::reference
