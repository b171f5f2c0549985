#include "kernels/simd/avx2.h"

#include "kernels/gemm/body.h"
#include "kernels/gemm_bf16/gemm_bf16.h"

namespace assay {

// Twelve registers of sums, two of weights, one of activations: 15 of 16.
extern "C" AssayStatus gemm_bf16_avx2(const GemmBf16Args* args) noexcept {
  return gemm<WidenBf16, 6, 1>(*args);
}

}  // namespace assay
