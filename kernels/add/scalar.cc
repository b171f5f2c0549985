#include "kernels/simd/scalar.h"

#include "kernels/add/body.h"

namespace assay {

extern "C" AssayStatus add_scalar(const AddArgs* args) noexcept {
  return add_body(*args);
}

}  // namespace assay
