#include "kernels/block_dot/avx512vnni.h"

#include "kernels/block_dot/gemm.h"
#include "kernels/gemm_q4_k_x16_q8_k/gemm_q4_k_x16_q8_k.h"

namespace assay {

extern "C" AssayStatus gemm_q4_k_x16_q8_k_avx512vnni(const GemmQ4KX16Q8KArgs* args) noexcept {
  return block_gemm<Q4K, Packed, 2, 4>(*args);
}

}  // namespace assay
