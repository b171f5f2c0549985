#include "kernels/simd/scalar.h"

#include "kernels/gemm/body.h"
#include "kernels/gemm_f32/gemm_f32.h"

namespace assay {

extern "C" AssayStatus gemm_f32_scalar(const GemmF32Args* args) noexcept {
  return gemm<Copy, 4, 1>(*args);
}

}  // namespace assay
