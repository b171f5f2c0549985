#include "kernels/block_dot/avx512vnni.h"

#include "kernels/block_dot/body.h"
#include "kernels/gemv_q5_0_q8_0/gemv_q5_0_q8_0.h"

namespace assay {

constexpr int64_t kPrefetchBytes = 0;

extern "C" AssayStatus gemv_q5_0_q8_0_avx512vnni(const GemvQ50Q80Args* args) noexcept {
  return block_gemv<Q50, Plain, kPrefetchBytes>(*args);
}

}  // namespace assay
