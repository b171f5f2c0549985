#include "kernels/block_dot/avx2.h"

#include "kernels/block_dot/gemm.h"
#include "kernels/gemm_q4_k_q8_k/gemm_q4_k_q8_k.h"

namespace assay {

extern "C" AssayStatus gemm_q4_k_q8_k_avx2(const GemmQ4KQ8KArgs* args) noexcept {
  return block_gemm<Q4K, Plain, 1, 4>(*args);
}

}  // namespace assay
