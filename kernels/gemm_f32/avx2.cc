#include "kernels/simd/avx2.h"

#include "kernels/gemm/body.h"
#include "kernels/gemm_f32/gemm_f32.h"

namespace assay {

// Twelve registers of sums, two of weights, one of activations: 15 of 16.
extern "C" AssayStatus gemm_f32_avx2(const GemmF32Args* args) noexcept {
  return gemm<Copy, 6, 1>(*args);
}

}  // namespace assay
