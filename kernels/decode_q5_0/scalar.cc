#include "kernels/formats/bytes_scalar.h"

#include "kernels/decode_q5_0/body.h"

namespace assay {

extern "C" AssayStatus decode_q5_0_scalar(const DecodeQ50Args* args) noexcept {
  return decode_q5_0_body(*args);
}

}  // namespace assay
