#include "kernels/formats/bytes_scalar.h"

#include "kernels/block_f32/gemv.h"
#include "kernels/gemv_q8_0_f32/gemv_q8_0_f32.h"

namespace assay {

extern "C" AssayStatus gemv_q8_0_f32_scalar(const GemvQ80F32Args* args) noexcept {
  return block_gemv_f32<FormatQ80>(*args);
}

}  // namespace assay
