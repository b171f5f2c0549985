#include "kernels/simd/avx512.h"

#include "kernels/simd/transpose.h"

#include "kernels/attention/prefill.h"
#include "kernels/attn_prefill_f16/attn_prefill_f16.h"

namespace assay {

// Sixteen registers of sums, one of queries or weights, one of a key or a value: 18 of 32.
extern "C" AssayStatus attn_prefill_f16_avx512(const AttnPrefillF16Args* args) noexcept {
  return attn_prefill<uint16_t, WidenF16, 16, 2>(*args);
}

}  // namespace assay
