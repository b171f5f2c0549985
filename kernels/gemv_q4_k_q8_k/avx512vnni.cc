#include "kernels/simd/avx512.h"

#include "kernels/block_dot/rows.h"
#include "kernels/gemv_q4_k_q8_k/gemv_q4_k_q8_k.h"

namespace assay {

extern "C" AssayStatus gemv_q4_k_q8_k_avx512vnni(const GemvQ4KQ8KArgs* args) noexcept {
  return plain_gemv<ASSAY_QK_K>(*args);
}

}  // namespace assay
