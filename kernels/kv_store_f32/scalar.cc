#include "kernels/simd/scalar.h"

#include "kernels/kv/store.h"
#include "kernels/kv_store_f32/kv_store_f32.h"

namespace assay {

extern "C" AssayStatus kv_store_f32_scalar(const KvStoreF32Args* args) noexcept {
  return kv_store<Copy>(*args);
}

}  // namespace assay
