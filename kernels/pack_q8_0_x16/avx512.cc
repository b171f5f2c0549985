#include "kernels/simd/avx512.h"

#include "kernels/block_dot/lines_x86.h"

#include "kernels/block_dot/pack.h"
#include "kernels/pack_q8_0_x16/pack_q8_0_x16.h"

namespace assay {

extern "C" AssayStatus pack_q8_0_x16_avx512(const PackQ80X16Args* args) noexcept {
  return pack_rows<ASSAY_QK>(args->src, args->dst, args->n, args->k);
}

}  // namespace assay
