#include "kernels/simd/avx2.h"
#include "kernels/simd/avx2_f64.h"

#include "kernels/rope_table/body.h"

namespace assay {

extern "C" AssayStatus rope_table_avx2(const RopeTableArgs* args) noexcept {
  return rope_table_body(*args);
}

}  // namespace assay
