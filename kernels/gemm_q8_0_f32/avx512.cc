#include "kernels/formats/bytes_avx512.h"

#include "kernels/simd/transpose.h"

#include "kernels/block_f32/gemm.h"
#include "kernels/gemm_q8_0_f32/gemm_q8_0_f32.h"

namespace assay {

extern "C" AssayStatus gemm_q8_0_f32_avx512(const GemmQ80F32Args* args) noexcept {
  return block_gemm_f32<FormatQ80, 12, 2>(*args);
}

}  // namespace assay
