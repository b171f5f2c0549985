#include "kernels/formats/bytes_scalar.h"

#include "kernels/quantize_q8_0/body.h"

namespace assay {

extern "C" AssayStatus quantize_q8_0_scalar(const QuantizeQ80Args* args) noexcept {
  return quantize_q8_0_body(*args);
}

}  // namespace assay
