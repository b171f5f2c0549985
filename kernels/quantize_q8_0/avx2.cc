#include "kernels/formats/bytes_avx2.h"

#include "kernels/quantize_q8_0/body.h"

namespace assay {

extern "C" AssayStatus quantize_q8_0_avx2(const QuantizeQ80Args* args) noexcept {
  return quantize_q8_0_body(*args);
}

}  // namespace assay
