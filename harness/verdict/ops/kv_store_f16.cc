#include "kernels/kv_store_f16/kv_store_f16.h"

#include "harness/verdict/ops/kv_store.h"

namespace assay {
using KvStoreF16Adapter = KvStoreAdapter<KvStoreF16, reference::kKvStoreF16Contract, reference::kv_store_f16, DType::f16>;
}

ASSAY_DEFINE_ADAPTER(kv_store_f16, KvStoreF16Adapter)
