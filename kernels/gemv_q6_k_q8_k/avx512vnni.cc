#include "kernels/block_dot/avx512vnni.h"

#include "kernels/block_dot/body.h"
#include "kernels/gemv_q6_k_q8_k/gemv_q6_k_q8_k.h"

namespace assay {

constexpr int64_t kPrefetchBytes = 0;

extern "C" AssayStatus gemv_q6_k_q8_k_avx512vnni(const GemvQ6KQ8KArgs* args) noexcept {
  return block_gemv<Q6K, Plain, kPrefetchBytes>(*args);
}

}  // namespace assay
