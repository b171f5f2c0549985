#include "kernels/simd/avx512.h"

#include "kernels/gemm/body.h"
#include "kernels/gemm_f32/gemm_f32.h"

namespace assay {

// 24 registers of sums, two of weights, one of activations: 27 of 32.
extern "C" AssayStatus gemm_f32_avx512(const GemmF32Args* args) noexcept {
  return gemm<Copy, 12, 2>(*args);
}

}  // namespace assay
