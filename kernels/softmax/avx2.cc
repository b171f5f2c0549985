#include "kernels/simd/avx2.h"

#include "kernels/softmax/body.h"

namespace assay {

extern "C" AssayStatus softmax_avx2(const SoftmaxArgs* args) noexcept {
  return softmax_body(*args);
}

}  // namespace assay
