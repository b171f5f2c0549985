#include "kernels/simd/avx512.h"

#include "kernels/gemm/body.h"
#include "kernels/gemm_f16/gemm_f16.h"

namespace assay {

// 24 registers of sums, two of weights, one of activations: 27 of 32.
extern "C" AssayStatus gemm_f16_avx512(const GemmF16Args* args) noexcept {
  return gemm<WidenF16, 12, 2>(*args);
}

}  // namespace assay
