#include "kernels/simd/avx2.h"

#include "kernels/gemm/body.h"
#include "kernels/gemm_f16/gemm_f16.h"

namespace assay {

// Twelve registers of sums, two of weights, one of activations: 15 of 16.
extern "C" AssayStatus gemm_f16_avx2(const GemmF16Args* args) noexcept {
  return gemm<WidenF16, 6, 1>(*args);
}

}  // namespace assay
