#include "kernels/simd/scalar.h"

#include "kernels/attention/prefill.h"
#include "kernels/attn_prefill_f16/attn_prefill_f16.h"

namespace assay {

extern "C" AssayStatus attn_prefill_f16_scalar(const AttnPrefillF16Args* args) noexcept {
  return attn_prefill<uint16_t, WidenF16, 4, 1>(*args);
}

}  // namespace assay
