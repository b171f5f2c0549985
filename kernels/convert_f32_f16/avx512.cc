#include "kernels/simd/avx512.h"

#include "kernels/convert_f32_f16/body.h"

namespace assay {

extern "C" AssayStatus convert_f32_f16_avx512(const ConvertF32F16Args* args) noexcept {
  return convert_f32_f16_body(*args);
}

}  // namespace assay
