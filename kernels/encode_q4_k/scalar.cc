#include "kernels/formats/bytes_scalar.h"

#include "kernels/encode_q4_k/body.h"

namespace assay {

extern "C" AssayStatus encode_q4_k_scalar(const EncodeQ4KArgs* args) noexcept {
  return encode_q4_k_body(*args);
}

}  // namespace assay
