#include "kernels/simd/avx512.h"

#include "kernels/gemm/body.h"
#include "kernels/gemm_bf16/gemm_bf16.h"

namespace assay {

// 24 registers of sums, two of weights, one of activations: 27 of 32.
extern "C" AssayStatus gemm_bf16_avx512(const GemmBf16Args* args) noexcept {
  return gemm<WidenBf16, 12, 2>(*args);
}

}  // namespace assay
