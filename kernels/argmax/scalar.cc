#include "kernels/simd/scalar.h"

#include "kernels/argmax/body.h"

namespace assay {

extern "C" AssayStatus argmax_scalar(const ArgmaxArgs* args) noexcept {
  return argmax_body(*args);
}

}  // namespace assay
