#include "kernels/simd/scalar.h"

#include "kernels/matvec/body.h"
#include "kernels/matvec_f32/matvec_f32.h"

namespace assay {

extern "C" AssayStatus matvec_f32_scalar(const MatvecF32Args* args) noexcept {
  return matvec<Copy>(*args);
}

}  // namespace assay
