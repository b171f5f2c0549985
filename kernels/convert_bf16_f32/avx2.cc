#include "kernels/simd/avx2.h"

#include "kernels/convert_bf16_f32/body.h"

namespace assay {

extern "C" AssayStatus convert_bf16_f32_avx2(const ConvertBf16F32Args* args) noexcept {
  return convert_bf16_f32_body(*args);
}

}  // namespace assay
