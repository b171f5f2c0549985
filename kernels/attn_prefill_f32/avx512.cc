#include "kernels/simd/avx512.h"
#include "kernels/simd/transpose.h"

#include "kernels/attention/chunk.h"
#include "kernels/attn_prefill_f32/attn_prefill_f32.h"

namespace assay {

extern "C" AssayStatus attn_prefill_f32_avx512(const AttnPrefillF32Args* args) noexcept {
  return attn_prefill<float, Copy, 16>(*args);
}

}  // namespace assay
