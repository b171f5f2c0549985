#include "kernels/simd/scalar.h"

#include "kernels/gemm/body.h"
#include "kernels/gemm_f16/gemm_f16.h"

namespace assay {

extern "C" AssayStatus gemm_f16_scalar(const GemmF16Args* args) noexcept {
  return gemm<WidenF16, 4, 1>(*args);
}

}  // namespace assay
