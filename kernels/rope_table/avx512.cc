#include "kernels/simd/avx512.h"
#include "kernels/simd/avx512_f64.h"

#include "kernels/rope_table/body.h"

namespace assay {

extern "C" AssayStatus rope_table_avx512(const RopeTableArgs* args) noexcept {
  return rope_table_body(*args);
}

}  // namespace assay
