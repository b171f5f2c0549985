#include "kernels/simd/avx512.h"

#include "kernels/attention/decode.h"
#include "kernels/attn_decode_f32/attn_decode_f32.h"

namespace assay {

extern "C" AssayStatus attn_decode_f32_avx512(const AttnDecodeF32Args* args) noexcept {
  return attn_decode<float, Copy, 4, 16>(*args);
}

}  // namespace assay
