#include "kernels/simd/avx512.h"

#include "kernels/block_dot/rows.h"
#include "kernels/gemv_q4_0_q8_0/gemv_q4_0_q8_0.h"

namespace assay {

extern "C" AssayStatus gemv_q4_0_q8_0_avx512(const GemvQ40Q80Args* args) noexcept {
  return plain_gemv<ASSAY_QK>(*args);
}

}  // namespace assay
