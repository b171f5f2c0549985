#include "kernels/attn_prefill_f32/attn_prefill_f32.h"

namespace assay {

extern "C" AssayStatus attn_prefill_f32_scalar(const AttnPrefillF32Args*) noexcept {
  return ASSAY_OK;
}

}  // namespace assay
