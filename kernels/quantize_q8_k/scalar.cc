#include "kernels/formats/bytes_scalar.h"

#include "kernels/quantize_q8_k/body.h"

namespace assay {

extern "C" AssayStatus quantize_q8_k_scalar(const QuantizeQ8KArgs* args) noexcept {
  return quantize_q8_k_body(*args);
}

}  // namespace assay
