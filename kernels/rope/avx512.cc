#include "kernels/simd/avx512.h"

#include "kernels/rope/body.h"

namespace assay {

extern "C" AssayStatus rope_avx512(const RopeArgs* args) noexcept {
  return rope_body(*args);
}

}  // namespace assay
