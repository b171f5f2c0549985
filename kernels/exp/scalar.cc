#include "kernels/simd/scalar.h"

#include "kernels/exp/body.h"

namespace assay {

extern "C" AssayStatus exp_scalar(const ExpArgs* args) noexcept {
  return exp_body(*args);
}

}  // namespace assay
