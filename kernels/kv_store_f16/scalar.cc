#include "kernels/simd/scalar.h"

#include "kernels/kv/store.h"
#include "kernels/kv_store_f16/kv_store_f16.h"

namespace assay {

extern "C" AssayStatus kv_store_f16_scalar(const KvStoreF16Args* args) noexcept {
  return kv_store<NarrowF16>(*args);
}

}  // namespace assay
