#include "kernels/kv_store_f32/kv_store_f32.h"

#include "harness/verdict/ops/kv_store.h"

namespace assay {
using KvStoreF32Adapter = KvStoreAdapter<KvStoreF32, reference::kKvStoreF32Contract, reference::kv_store_f32, DType::f32>;
}

ASSAY_DEFINE_ADAPTER(kv_store_f32, KvStoreF32Adapter)
