#include "kernels/simd/avx512.h"

#include "kernels/block_dot/lines_x86.h"

#include "kernels/block_dot/pack.h"
#include "kernels/unpack_q4_k_x16/unpack_q4_k_x16.h"

namespace assay {

extern "C" AssayStatus unpack_q4_k_x16_avx512(const UnpackQ4KX16Args* args) noexcept {
  return unpack_rows<ASSAY_QK_K>(args->src, args->dst, args->n, args->k);
}

}  // namespace assay
