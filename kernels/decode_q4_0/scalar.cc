#include "kernels/formats/bytes_scalar.h"

#include "kernels/decode_q4_0/body.h"

namespace assay {

extern "C" AssayStatus decode_q4_0_scalar(const DecodeQ40Args* args) noexcept {
  return decode_q4_0_body(*args);
}

}  // namespace assay
