#include "kernels/simd/scalar.h"

#include "kernels/swiglu/body.h"

namespace assay {

extern "C" AssayStatus swiglu_scalar(const SwigluArgs* args) noexcept {
  return swiglu_body(*args);
}

}  // namespace assay
