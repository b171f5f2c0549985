#include "kernels/block_dot/scalar.h"

#include "kernels/gemm_q4_k_q8_k/gemm_q4_k_q8_k.h"

namespace assay {

extern "C" AssayStatus gemm_q4_k_q8_k_scalar(const GemmQ4KQ8KArgs* args) noexcept {
  return scalar_gemm<ASSAY_QK_K, PlainRows>(*args, args->w);
}

}  // namespace assay
