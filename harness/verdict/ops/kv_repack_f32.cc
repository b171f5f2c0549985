#include "kernels/kv_repack_f32/kv_repack_f32.h"

#include "harness/verdict/ops/kv_repack.h"

namespace assay {
using KvRepackF32Adapter = KvRepackAdapter<KvRepackF32, reference::kKvRepackF32Contract, reference::kv_repack_f32, DType::f32>;
}

ASSAY_DEFINE_ADAPTER(kv_repack_f32, KvRepackF32Adapter)
