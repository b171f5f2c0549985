#include "kernels/simd/scalar.h"

#include "kernels/attention/decode.h"
#include "kernels/attn_decode_f32/attn_decode_f32.h"

namespace assay {

extern "C" AssayStatus attn_decode_f32_scalar(const AttnDecodeF32Args* args) noexcept {
  return attn_decode<float, Copy, 1, 4>(*args);
}

}  // namespace assay
