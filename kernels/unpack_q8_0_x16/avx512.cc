#include "kernels/simd/avx512.h"

#include "kernels/block_dot/lines_x86.h"

#include "kernels/block_dot/pack.h"
#include "kernels/unpack_q8_0_x16/unpack_q8_0_x16.h"

namespace assay {

extern "C" AssayStatus unpack_q8_0_x16_avx512(const UnpackQ80X16Args* args) noexcept {
  return unpack_rows<ASSAY_QK>(args->src, args->dst, args->n, args->k);
}

}  // namespace assay
