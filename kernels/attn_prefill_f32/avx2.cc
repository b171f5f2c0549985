#include "kernels/simd/avx2.h"
#include "kernels/simd/transpose.h"

#include "kernels/attention/chunk.h"
#include "kernels/attn_prefill_f32/attn_prefill_f32.h"

namespace assay {

extern "C" AssayStatus attn_prefill_f32_avx2(const AttnPrefillF32Args* args) noexcept {
  return attn_prefill<float, Copy, 4>(*args);
}

}  // namespace assay
