#include "kernels/formats/bytes_avx512.h"

#include "kernels/quantize_q8_k/body.h"

namespace assay {

extern "C" AssayStatus quantize_q8_k_avx512(const QuantizeQ8KArgs* args) noexcept {
  return quantize_q8_k_body(*args);
}

}  // namespace assay
