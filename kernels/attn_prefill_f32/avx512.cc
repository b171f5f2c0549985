#include "kernels/simd/avx512.h"

#include "kernels/simd/transpose.h"

#include "kernels/attention/prefill.h"
#include "kernels/attn_prefill_f32/attn_prefill_f32.h"

namespace assay {

// Sixteen registers of sums, one of queries or weights, one of a key or a value: 18 of 32.
extern "C" AssayStatus attn_prefill_f32_avx512(const AttnPrefillF32Args* args) noexcept {
  return attn_prefill<float, Copy, 16, 2>(*args);
}

}  // namespace assay
