#include "kernels/formats/bytes_avx2.h"

#include "kernels/encode_q6_k/body.h"

namespace assay {

extern "C" AssayStatus encode_q6_k_avx2(const EncodeQ6KArgs* args) noexcept {
  return encode_q6_k_body(*args);
}

}  // namespace assay
