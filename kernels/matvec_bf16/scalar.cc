#include "kernels/simd/scalar.h"

#include "kernels/matvec/body.h"
#include "kernels/matvec_bf16/matvec_bf16.h"

namespace assay {

extern "C" AssayStatus matvec_bf16_scalar(const MatvecBf16Args* args) noexcept {
  return matvec<WidenBf16>(*args);
}

}  // namespace assay
