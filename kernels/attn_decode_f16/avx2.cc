#include "kernels/simd/avx2.h"

#include "kernels/attention/decode.h"
#include "kernels/attn_decode_f16/attn_decode_f16.h"

namespace assay {

extern "C" AssayStatus attn_decode_f16_avx2(const AttnDecodeF16Args* args) noexcept {
  return attn_decode<uint16_t, WidenF16, 2, 4>(*args);
}

}  // namespace assay
