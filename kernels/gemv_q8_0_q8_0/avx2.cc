#include "kernels/simd/avx2.h"

#include "kernels/block_dot/rows.h"
#include "kernels/gemv_q8_0_q8_0/gemv_q8_0_q8_0.h"

namespace assay {

extern "C" AssayStatus gemv_q8_0_q8_0_avx2(const GemvQ80Q80Args* args) noexcept {
  return plain_gemv<ASSAY_QK>(*args);
}

}  // namespace assay
