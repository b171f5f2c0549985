#include "kernels/simd/scalar.h"

#include "kernels/rms_norm/body.h"

namespace assay {

extern "C" AssayStatus rms_norm_scalar(const RmsNormArgs* args) noexcept {
  return rms_norm_body(*args);
}

}  // namespace assay
