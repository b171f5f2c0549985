#include "kernels/formats/bytes_scalar.h"

#include "kernels/block_f32/gemv.h"
#include "kernels/gemv_q4_k_f32/gemv_q4_k_f32.h"

namespace assay {

extern "C" AssayStatus gemv_q4_k_f32_scalar(const GemvQ4KF32Args* args) noexcept {
  return block_gemv_f32<FormatQ4K>(*args);
}

}  // namespace assay
