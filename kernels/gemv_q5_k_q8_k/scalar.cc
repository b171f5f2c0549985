#include "kernels/block_dot/scalar.h"

#include "kernels/gemv_q5_k_q8_k/gemv_q5_k_q8_k.h"

namespace assay {

extern "C" AssayStatus gemv_q5_k_q8_k_scalar(const GemvQ5KQ8KArgs* args) noexcept {
  return scalar_gemv<ASSAY_QK_K, PlainRows>(*args, args->w);
}

}  // namespace assay
