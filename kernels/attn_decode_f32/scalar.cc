#include "kernels/attn_decode_f32/attn_decode_f32.h"

namespace assay {

extern "C" AssayStatus attn_decode_f32_scalar(const AttnDecodeF32Args*) noexcept {
  return ASSAY_OK;
}

}  // namespace assay
