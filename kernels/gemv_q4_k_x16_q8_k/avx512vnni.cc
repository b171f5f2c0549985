#include "kernels/block_dot/avx512vnni.h"

#include "kernels/block_dot/body.h"
#include "kernels/gemv_q4_k_x16_q8_k/gemv_q4_k_x16_q8_k.h"

namespace assay {

extern "C" AssayStatus gemv_q4_k_x16_q8_k_avx512vnni(const GemvQ4KX16Q8KArgs* args) noexcept {
  return packed_gemv<Q4K>(*args);
}

}  // namespace assay
