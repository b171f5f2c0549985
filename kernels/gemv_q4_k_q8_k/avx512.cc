#include "kernels/block_dot/avx512.h"

#include "kernels/block_dot/body.h"
#include "kernels/gemv_q4_k_q8_k/gemv_q4_k_q8_k.h"

namespace assay {

constexpr int64_t kPrefetchBytes = 0;

extern "C" AssayStatus gemv_q4_k_q8_k_avx512(const GemvQ4KQ8KArgs* args) noexcept {
  return block_gemv<Q4K, Plain, kPrefetchBytes>(*args);
}

}  // namespace assay
