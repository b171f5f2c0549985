#include "kernels/block_dot/scalar.h"

#include "kernels/gemm_q6_k_x16_q8_k/gemm_q6_k_x16_q8_k.h"

namespace assay {

extern "C" AssayStatus gemm_q6_k_x16_q8_k_scalar(const GemmQ6KX16Q8KArgs* args) noexcept {
  return scalar_gemm<ASSAY_QK_K, PackedRows>(*args, args->w);
}

}  // namespace assay
