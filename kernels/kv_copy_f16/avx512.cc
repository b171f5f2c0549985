#include "kernels/simd/avx512.h"

#include "kernels/kv/copy.h"
#include "kernels/kv_copy_f16/kv_copy_f16.h"

namespace assay {

extern "C" AssayStatus kv_copy_f16_avx512(const KvCopyF16Args* args) noexcept {
  return kv_copy(*args);
}

}  // namespace assay
