#include "kernels/simd/scalar.h"

#include "kernels/convert_f32_bf16/body.h"

namespace assay {

extern "C" AssayStatus convert_f32_bf16_scalar(const ConvertF32Bf16Args* args) noexcept {
  return convert_f32_bf16_body(*args);
}

}  // namespace assay
