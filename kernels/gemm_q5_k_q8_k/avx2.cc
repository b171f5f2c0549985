#include "kernels/block_dot/avx2.h"

#include "kernels/block_dot/gemm.h"
#include "kernels/gemm_q5_k_q8_k/gemm_q5_k_q8_k.h"

namespace assay {

extern "C" AssayStatus gemm_q5_k_q8_k_avx2(const GemmQ5KQ8KArgs* args) noexcept {
  return block_gemm<Q5K, Plain, 1, 4>(*args);
}

}  // namespace assay
