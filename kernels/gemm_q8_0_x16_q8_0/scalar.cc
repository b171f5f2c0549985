#include "kernels/block_dot/scalar.h"

#include "kernels/gemm_q8_0_x16_q8_0/gemm_q8_0_x16_q8_0.h"

namespace assay {

extern "C" AssayStatus gemm_q8_0_x16_q8_0_scalar(const GemmQ80X16Q80Args* args) noexcept {
  return scalar_gemm<ASSAY_QK, PackedRows>(*args, args->w);
}

}  // namespace assay
