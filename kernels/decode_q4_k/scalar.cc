#include "kernels/formats/bytes_scalar.h"

#include "kernels/decode_q4_k/body.h"

namespace assay {

extern "C" AssayStatus decode_q4_k_scalar(const DecodeQ4KArgs* args) noexcept {
  return decode_q4_k_body(*args);
}

}  // namespace assay
