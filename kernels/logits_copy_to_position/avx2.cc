#include "kernels/simd/avx2.h"

#include "kernels/logits_copy_to_position/body.h"
#include "kernels/logits_copy_to_position/logits_copy_to_position.h"

namespace assay {

extern "C" AssayStatus logits_copy_to_position_avx2(const LogitsCopyToPositionArgs* args) noexcept {
  return logits_copy_to_position_body(*args);
}

}  // namespace assay
