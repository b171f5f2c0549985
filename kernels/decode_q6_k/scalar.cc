#include "kernels/formats/bytes_scalar.h"

#include "kernels/decode_q6_k/body.h"

namespace assay {

extern "C" AssayStatus decode_q6_k_scalar(const DecodeQ6KArgs* args) noexcept {
  return decode_q6_k_body(*args);
}

}  // namespace assay
