#include "kernels/simd/scalar.h"

#include "kernels/convert_bf16_f32/body.h"

namespace assay {

extern "C" AssayStatus convert_bf16_f32_scalar(const ConvertBf16F32Args* args) noexcept {
  return convert_bf16_f32_body(*args);
}

}  // namespace assay
