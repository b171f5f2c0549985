#include "kernels/simd/scalar.h"
#include "kernels/simd/scalar_f64.h"

#include "kernels/rope_table/body.h"

namespace assay {

extern "C" AssayStatus rope_table_scalar(const RopeTableArgs* args) noexcept {
  return rope_table_body(*args);
}

}  // namespace assay
