#include "kernels/simd/avx2.h"

#include "kernels/matvec/body.h"
#include "kernels/matvec_f32/matvec_f32.h"

namespace assay {

namespace {

// Tuned on Zen 4: without conversions the hardware's own prefetching keeps up, and 8 KiB ahead costs 8 per cent.
constexpr int64_t kPrefetchBytes = 0;

}  // namespace

extern "C" AssayStatus matvec_f32_avx2(const MatvecF32Args* args) noexcept {
  return matvec<Copy, kPrefetchBytes>(*args);
}

}  // namespace assay
