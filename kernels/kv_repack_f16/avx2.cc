#include "kernels/simd/avx2.h"

#include "kernels/kv/repack.h"
#include "kernels/kv_repack_f16/kv_repack_f16.h"

namespace assay {

extern "C" AssayStatus kv_repack_f16_avx2(const KvRepackF16Args* args) noexcept {
  return kv_repack(*args);
}

}  // namespace assay
