#include "kernels/simd/avx512.h"

#include "kernels/convert_bf16_f32/body.h"

namespace assay {

extern "C" AssayStatus convert_bf16_f32_avx512(const ConvertBf16F32Args* args) noexcept {
  return convert_bf16_f32_body(*args);
}

}  // namespace assay
