#include "kernels/formats/bytes_scalar.h"

#include "kernels/decode_q8_0/body.h"

namespace assay {

extern "C" AssayStatus decode_q8_0_scalar(const DecodeQ80Args* args) noexcept {
  return decode_q8_0_body(*args);
}

}  // namespace assay
