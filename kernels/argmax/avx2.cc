#include "kernels/simd/avx2.h"

#include "kernels/argmax/body.h"

namespace assay {

extern "C" AssayStatus argmax_avx2(const ArgmaxArgs* args) noexcept {
  return argmax_body(*args);
}

}  // namespace assay
