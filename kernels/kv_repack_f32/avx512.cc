#include "kernels/simd/avx512.h"

#include "kernels/kv/repack.h"
#include "kernels/kv_repack_f32/kv_repack_f32.h"

namespace assay {

extern "C" AssayStatus kv_repack_f32_avx512(const KvRepackF32Args* args) noexcept {
  return kv_repack(*args);
}

}  // namespace assay
