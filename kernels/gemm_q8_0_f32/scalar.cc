#include "kernels/formats/bytes_scalar.h"

#include "kernels/block_f32/gemm.h"
#include "kernels/gemm_q8_0_f32/gemm_q8_0_f32.h"

namespace assay {

extern "C" AssayStatus gemm_q8_0_f32_scalar(const GemmQ80F32Args* args) noexcept {
  return block_gemm_f32<FormatQ80, 4, 1>(*args);
}

}  // namespace assay
