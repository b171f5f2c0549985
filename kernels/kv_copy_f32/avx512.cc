#include "kernels/simd/avx512.h"

#include "kernels/kv/copy.h"
#include "kernels/kv_copy_f32/kv_copy_f32.h"

namespace assay {

extern "C" AssayStatus kv_copy_f32_avx512(const KvCopyF32Args* args) noexcept {
  return kv_copy(*args);
}

}  // namespace assay
