#include "kernels/formats/bytes_scalar.h"

#include "kernels/decode_q4_1/body.h"

namespace assay {

extern "C" AssayStatus decode_q4_1_scalar(const DecodeQ41Args* args) noexcept {
  return decode_q4_1_body(*args);
}

}  // namespace assay
