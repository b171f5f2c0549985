#include "kernels/block_dot/avx512.h"

#include "kernels/block_dot/body.h"
#include "kernels/gemv_q8_0_q8_0/gemv_q8_0_q8_0.h"

namespace assay {

constexpr int64_t kPrefetchBytes = 0;

extern "C" AssayStatus gemv_q8_0_q8_0_avx512(const GemvQ80Q80Args* args) noexcept {
  return block_gemv<Q80, Plain, kPrefetchBytes>(*args);
}

}  // namespace assay
