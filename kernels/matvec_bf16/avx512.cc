#include "kernels/simd/avx512.h"

#include "kernels/matvec/body.h"
#include "kernels/matvec_bf16/matvec_bf16.h"

namespace assay {

extern "C" AssayStatus matvec_bf16_avx512(const MatvecBf16Args* args) noexcept {
  return matvec<WidenBf16>(*args);
}

}  // namespace assay
