#include "kernels/simd/scalar.h"

#include "kernels/attention/prefill.h"
#include "kernels/attn_prefill_f32/attn_prefill_f32.h"

namespace assay {

extern "C" AssayStatus attn_prefill_f32_scalar(const AttnPrefillF32Args* args) noexcept {
  return attn_prefill<float, Copy, 4, 1>(*args);
}

}  // namespace assay
