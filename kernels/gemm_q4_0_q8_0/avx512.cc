#include "kernels/block_dot/avx512.h"

#include "kernels/block_dot/gemm.h"
#include "kernels/gemm_q4_0_q8_0/gemm_q4_0_q8_0.h"

namespace assay {

extern "C" AssayStatus gemm_q4_0_q8_0_avx512(const GemmQ40Q80Args* args) noexcept {
  return block_gemm<Q40, Plain, 1, 6>(*args);
}

}  // namespace assay
