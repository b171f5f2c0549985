#include "kernels/simd/avx512.h"

#include "kernels/argmax/body.h"

namespace assay {

extern "C" AssayStatus argmax_avx512(const ArgmaxArgs* args) noexcept {
  return argmax_body(*args);
}

}  // namespace assay
