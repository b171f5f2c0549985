#include "kernels/block_dot/avx512.h"

#include "kernels/block_dot/body.h"
#include "kernels/gemv_q8_0_x16_q8_0/gemv_q8_0_x16_q8_0.h"

namespace assay {

extern "C" AssayStatus gemv_q8_0_x16_q8_0_avx512(const GemvQ80X16Q80Args* args) noexcept {
  return packed_gemv<Q80>(*args);
}

}  // namespace assay
