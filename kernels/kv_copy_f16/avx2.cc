#include "kernels/simd/avx2.h"

#include "kernels/kv/copy.h"
#include "kernels/kv_copy_f16/kv_copy_f16.h"

namespace assay {

extern "C" AssayStatus kv_copy_f16_avx2(const KvCopyF16Args* args) noexcept {
  return kv_copy(*args);
}

}  // namespace assay
