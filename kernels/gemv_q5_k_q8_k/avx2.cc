#include "kernels/block_dot/avx2.h"

#include "kernels/block_dot/body.h"
#include "kernels/gemv_q5_k_q8_k/gemv_q5_k_q8_k.h"

namespace assay {

constexpr int64_t kPrefetchBytes = 0;

extern "C" AssayStatus gemv_q5_k_q8_k_avx2(const GemvQ5KQ8KArgs* args) noexcept {
  return block_gemv<Q5K, Plain, kPrefetchBytes>(*args);
}

}  // namespace assay
