#include "kernels/block_dot/avx512vnni.h"

#include "kernels/block_dot/gemm.h"
#include "kernels/gemm_q6_k_x16_q8_k/gemm_q6_k_x16_q8_k.h"

namespace assay {

extern "C" AssayStatus gemm_q6_k_x16_q8_k_avx512vnni(const GemmQ6KX16Q8KArgs* args) noexcept {
  return block_gemm<Q6K, Packed, 2, 4>(*args);
}

}  // namespace assay
