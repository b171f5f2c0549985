#include "kernels/simd/avx512.h"

#include "kernels/exp/body.h"

namespace assay {

extern "C" AssayStatus exp_avx512(const ExpArgs* args) noexcept {
  return exp_body(*args);
}

}  // namespace assay
