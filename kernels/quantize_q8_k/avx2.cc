#include "kernels/formats/bytes_avx2.h"

#include "kernels/quantize_q8_k/body.h"

namespace assay {

extern "C" AssayStatus quantize_q8_k_avx2(const QuantizeQ8KArgs* args) noexcept {
  return quantize_q8_k_body(*args);
}

}  // namespace assay
