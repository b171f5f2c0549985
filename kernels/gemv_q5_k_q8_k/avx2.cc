#include "kernels/simd/avx2.h"

#include "kernels/block_dot/rows.h"
#include "kernels/gemv_q5_k_q8_k/gemv_q5_k_q8_k.h"

namespace assay {

extern "C" AssayStatus gemv_q5_k_q8_k_avx2(const GemvQ5KQ8KArgs* args) noexcept {
  return plain_gemv<ASSAY_QK_K>(*args);
}

}  // namespace assay
