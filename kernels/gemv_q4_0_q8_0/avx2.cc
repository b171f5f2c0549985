#include "kernels/block_dot/avx2.h"

#include "kernels/block_dot/body.h"
#include "kernels/gemv_q4_0_q8_0/gemv_q4_0_q8_0.h"

namespace assay {

constexpr int64_t kPrefetchBytes = 0;

extern "C" AssayStatus gemv_q4_0_q8_0_avx2(const GemvQ40Q80Args* args) noexcept {
  return block_gemv<Q40, Plain, kPrefetchBytes>(*args);
}

}  // namespace assay
