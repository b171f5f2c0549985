#include "kernels/simd/avx512.h"

#include "kernels/rms_norm/body.h"

namespace assay {

extern "C" AssayStatus rms_norm_avx512(const RmsNormArgs* args) noexcept {
  return rms_norm_body(*args);
}

}  // namespace assay
