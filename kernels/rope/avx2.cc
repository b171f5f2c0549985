#include "kernels/simd/avx2.h"

#include "kernels/rope/body.h"

namespace assay {

extern "C" AssayStatus rope_avx2(const RopeArgs* args) noexcept {
  return rope_body(*args);
}

}  // namespace assay
