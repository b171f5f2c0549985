#include "kernels/formats/bytes_avx2.h"

#include "kernels/encode_q5_k/body.h"

namespace assay {

extern "C" AssayStatus encode_q5_k_avx2(const EncodeQ5KArgs* args) noexcept {
  return encode_q5_k_body(*args);
}

}  // namespace assay
