#include "kernels/simd/avx2.h"

#include "kernels/rms_norm/body.h"

namespace assay {

extern "C" AssayStatus rms_norm_avx2(const RmsNormArgs* args) noexcept {
  return rms_norm_body(*args);
}

}  // namespace assay
