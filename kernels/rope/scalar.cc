#include "kernels/simd/scalar.h"

#include "kernels/rope/body.h"

namespace assay {

extern "C" AssayStatus rope_scalar(const RopeArgs* args) noexcept {
  return rope_body(*args);
}

}  // namespace assay
