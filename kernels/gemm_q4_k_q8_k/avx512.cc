#include "kernels/block_dot/avx512.h"

#include "kernels/block_dot/gemm.h"
#include "kernels/gemm_q4_k_q8_k/gemm_q4_k_q8_k.h"

namespace assay {

extern "C" AssayStatus gemm_q4_k_q8_k_avx512(const GemmQ4KQ8KArgs* args) noexcept {
  return block_gemm<Q4K, Plain, 1, 6>(*args);
}

}  // namespace assay
