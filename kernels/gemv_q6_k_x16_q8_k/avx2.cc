#include "kernels/block_dot/avx2.h"

#include "kernels/block_dot/body.h"
#include "kernels/gemv_q6_k_x16_q8_k/gemv_q6_k_x16_q8_k.h"

namespace assay {

extern "C" AssayStatus gemv_q6_k_x16_q8_k_avx2(const GemvQ6KX16Q8KArgs* args) noexcept {
  return packed_gemv<Q6K>(*args);
}

}  // namespace assay
