#include "kernels/simd/avx512.h"

#include "kernels/softmax/body.h"

namespace assay {

extern "C" AssayStatus softmax_avx512(const SoftmaxArgs* args) noexcept {
  return softmax_body(*args);
}

}  // namespace assay
