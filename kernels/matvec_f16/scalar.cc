#include "kernels/simd/scalar.h"

#include "kernels/matvec/body.h"
#include "kernels/matvec_f16/matvec_f16.h"

namespace assay {

extern "C" AssayStatus matvec_f16_scalar(const MatvecF16Args* args) noexcept {
  return matvec<WidenF16>(*args);
}

}  // namespace assay
