/* One f16 to f32 and back: the scale fields of a block. After an ISA's header (kernels/simd/<isa>.h), whose
   conversions these follow: nearest even, denormals kept, a NaN made quiet. */
#pragma once

#include <stdint.h>

namespace assay {
namespace {

ASSAY_INLINE float half_value(uint16_t half) {
#ifdef __F16C__
  return _cvtsh_ss(half);
#else
  return f16_to_f32(half);
#endif
}

ASSAY_INLINE uint16_t to_half(float x) {
#ifdef __F16C__
  return static_cast<uint16_t>(_cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT));
#else
  return f32_to_f16(x);
#endif
}

}  // namespace
}  // namespace assay
