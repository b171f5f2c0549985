#include "kernels/kv_repack_f16/kv_repack_f16.h"

#include "harness/verdict/ops/kv_repack.h"

namespace assay {
using KvRepackF16Adapter = KvRepackAdapter<KvRepackF16, reference::kKvRepackF16Contract, reference::kv_repack_f16, DType::f16>;
}

ASSAY_DEFINE_ADAPTER(kv_repack_f16, KvRepackF16Adapter)
