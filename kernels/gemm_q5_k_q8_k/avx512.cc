#include "kernels/block_dot/avx512.h"

#include "kernels/block_dot/gemm.h"
#include "kernels/gemm_q5_k_q8_k/gemm_q5_k_q8_k.h"

namespace assay {

extern "C" AssayStatus gemm_q5_k_q8_k_avx512(const GemmQ5KQ8KArgs* args) noexcept {
  return block_gemm<Q5K, Plain, 1, 6>(*args);
}

}  // namespace assay
