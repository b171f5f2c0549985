#include "kernels/simd/avx512.h"

#include "kernels/swiglu/body.h"

namespace assay {

extern "C" AssayStatus swiglu_avx512(const SwigluArgs* args) noexcept {
  return swiglu_body(*args);
}

}  // namespace assay
