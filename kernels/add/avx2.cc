#include "kernels/simd/avx2.h"

#include "kernels/add/body.h"

namespace assay {

extern "C" AssayStatus add_avx2(const AddArgs* args) noexcept {
  return add_body(*args);
}

}  // namespace assay
