#include "kernels/formats/bytes_scalar.h"

#include "kernels/encode_q6_k/body.h"

namespace assay {

extern "C" AssayStatus encode_q6_k_scalar(const EncodeQ6KArgs* args) noexcept {
  return encode_q6_k_body(*args);
}

}  // namespace assay
