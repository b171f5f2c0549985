#include "kernels/simd/scalar.h"

#include "kernels/softmax/body.h"

namespace assay {

extern "C" AssayStatus softmax_scalar(const SoftmaxArgs* args) noexcept {
  return softmax_body(*args);
}

}  // namespace assay
