#include "kernels/simd/avx2.h"

#include "kernels/swiglu/body.h"

namespace assay {

extern "C" AssayStatus swiglu_avx2(const SwigluArgs* args) noexcept {
  return swiglu_body(*args);
}

}  // namespace assay
