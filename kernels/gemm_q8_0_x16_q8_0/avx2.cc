#include "kernels/block_dot/avx2.h"

#include "kernels/block_dot/gemm.h"
#include "kernels/gemm_q8_0_x16_q8_0/gemm_q8_0_x16_q8_0.h"

namespace assay {

extern "C" AssayStatus gemm_q8_0_x16_q8_0_avx2(const GemmQ80X16Q80Args* args) noexcept {
  return block_gemm<Q80, Packed, 1, 4>(*args);
}

}  // namespace assay
