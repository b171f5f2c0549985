#include "kernels/simd/avx512.h"

#include "kernels/attention/decode.h"
#include "kernels/attn_decode_f16/attn_decode_f16.h"

namespace assay {

extern "C" AssayStatus attn_decode_f16_avx512(const AttnDecodeF16Args* args) noexcept {
  return attn_decode<uint16_t, WidenF16, 4, 16>(*args);
}

}  // namespace assay
