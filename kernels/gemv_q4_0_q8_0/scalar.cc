#include "kernels/block_dot/scalar.h"

#include "kernels/gemv_q4_0_q8_0/gemv_q4_0_q8_0.h"

namespace assay {

extern "C" AssayStatus gemv_q4_0_q8_0_scalar(const GemvQ40Q80Args* args) noexcept {
  return scalar_gemv<ASSAY_QK, PlainRows>(*args, args->w);
}

}  // namespace assay
