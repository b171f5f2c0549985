#include "kernels/attn_decode_f16/attn_decode_f16.h"

namespace assay {

extern "C" AssayStatus attn_decode_f16_scalar(const AttnDecodeF16Args*) noexcept {
  return ASSAY_OK;
}

}  // namespace assay
