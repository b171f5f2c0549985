#include "kernels/block_dot/avx512vnni.h"

#include "kernels/block_dot/gemm.h"
#include "kernels/gemm_q5_k_q8_k/gemm_q5_k_q8_k.h"

namespace assay {

extern "C" AssayStatus gemm_q5_k_q8_k_avx512vnni(const GemmQ5KQ8KArgs* args) noexcept {
  return block_gemm<Q5K, Plain, 2, 4>(*args);
}

}  // namespace assay
