#include "kernels/simd/avx512.h"

#include "kernels/matvec/body.h"
#include "kernels/matvec_f32/matvec_f32.h"

namespace assay {

extern "C" AssayStatus matvec_f32_avx512(const MatvecF32Args* args) noexcept {
  return matvec<Copy>(*args);
}

}  // namespace assay
