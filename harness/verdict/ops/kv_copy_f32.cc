#include "kernels/kv_copy_f32/kv_copy_f32.h"

#include "harness/verdict/ops/kv_copy.h"

namespace assay {
using KvCopyF32Adapter = KvCopyAdapter<KvCopyF32, reference::kKvCopyF32Contract, reference::kv_copy_f32, DType::f32>;
}

ASSAY_DEFINE_ADAPTER(kv_copy_f32, KvCopyF32Adapter)
