#include "kernels/simd/avx2.h"

#include "kernels/exp/body.h"

namespace assay {

extern "C" AssayStatus exp_avx2(const ExpArgs* args) noexcept {
  return exp_body(*args);
}

}  // namespace assay
