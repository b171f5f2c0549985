#include "kernels/formats/bytes_scalar.h"

#include "kernels/encode_q5_k/body.h"

namespace assay {

extern "C" AssayStatus encode_q5_k_scalar(const EncodeQ5KArgs* args) noexcept {
  return encode_q5_k_body(*args);
}

}  // namespace assay
