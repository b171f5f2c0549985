#include "kernels/simd/scalar.h"

#include "kernels/gemm/body.h"
#include "kernels/gemm_bf16/gemm_bf16.h"

namespace assay {

extern "C" AssayStatus gemm_bf16_scalar(const GemmBf16Args* args) noexcept {
  return gemm<WidenBf16, 4, 1>(*args);
}

}  // namespace assay
