#include "kernels/formats/bytes_avx512.h"

#include "kernels/encode_q4_k/body.h"

namespace assay {

extern "C" AssayStatus encode_q4_k_avx512(const EncodeQ4KArgs* args) noexcept {
  return encode_q4_k_body(*args);
}

}  // namespace assay
