#include "kernels/formats/bytes_avx512.h"

#include "kernels/simd/transpose.h"

#include "kernels/block_f32/gemm.h"
#include "kernels/gemm_q4_k_f32/gemm_q4_k_f32.h"

namespace assay {

extern "C" AssayStatus gemm_q4_k_f32_avx512(const GemmQ4KF32Args* args) noexcept {
  return block_gemm_f32<FormatQ4K, 12, 2>(*args);
}

}  // namespace assay
