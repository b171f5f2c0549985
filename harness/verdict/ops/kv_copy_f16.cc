#include "kernels/kv_copy_f16/kv_copy_f16.h"

#include "harness/verdict/ops/kv_copy.h"

namespace assay {
using KvCopyF16Adapter = KvCopyAdapter<KvCopyF16, reference::kKvCopyF16Contract, reference::kv_copy_f16, DType::f16>;
}

ASSAY_DEFINE_ADAPTER(kv_copy_f16, KvCopyF16Adapter)
