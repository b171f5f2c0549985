#include "kernels/simd/avx2.h"

#include "kernels/simd/transpose.h"

#include "kernels/attention/prefill.h"
#include "kernels/attn_prefill_f16/attn_prefill_f16.h"

namespace assay {

// Eight registers of sums, two of queries or weights, one of a key or a value: 11 of 16.
extern "C" AssayStatus attn_prefill_f16_avx2(const AttnPrefillF16Args* args) noexcept {
  return attn_prefill<uint16_t, WidenF16, 4, 1>(*args);
}

}  // namespace assay
