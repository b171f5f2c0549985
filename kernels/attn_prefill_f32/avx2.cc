#include "kernels/simd/avx2.h"

#include "kernels/simd/transpose.h"

#include "kernels/attention/prefill.h"
#include "kernels/attn_prefill_f32/attn_prefill_f32.h"

namespace assay {

// Eight registers of sums, two of queries or weights, one of a key or a value: 11 of 16.
extern "C" AssayStatus attn_prefill_f32_avx2(const AttnPrefillF32Args* args) noexcept {
  return attn_prefill<float, Copy, 4, 1>(*args);
}

}  // namespace assay
