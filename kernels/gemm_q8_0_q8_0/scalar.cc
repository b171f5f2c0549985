#include "kernels/block_dot/scalar.h"

#include "kernels/gemm_q8_0_q8_0/gemm_q8_0_q8_0.h"

namespace assay {

extern "C" AssayStatus gemm_q8_0_q8_0_scalar(const GemmQ80Q80Args* args) noexcept {
  return scalar_gemm<ASSAY_QK, PlainRows>(*args, args->w);
}

}  // namespace assay
