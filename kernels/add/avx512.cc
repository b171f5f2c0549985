#include "kernels/simd/avx512.h"

#include "kernels/add/body.h"

namespace assay {

extern "C" AssayStatus add_avx512(const AddArgs* args) noexcept {
  return add_body(*args);
}

}  // namespace assay
