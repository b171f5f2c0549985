#include "kernels/simd/avx2.h"

#include "kernels/attention/decode.h"
#include "kernels/attn_decode_f32/attn_decode_f32.h"

namespace assay {

extern "C" AssayStatus attn_decode_f32_avx2(const AttnDecodeF32Args* args) noexcept {
  return attn_decode<float, Copy, 2, 4>(*args);
}

}  // namespace assay
