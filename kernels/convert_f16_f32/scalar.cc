#include "kernels/simd/scalar.h"

#include "kernels/convert_f16_f32/body.h"

namespace assay {

extern "C" AssayStatus convert_f16_f32_scalar(const ConvertF16F32Args* args) noexcept {
  return convert_f16_f32_body(*args);
}

}  // namespace assay
