#include "kernels/formats/bytes_avx512.h"

#include "kernels/decode_q8_k/body.h"

namespace assay {

extern "C" AssayStatus decode_q8_k_avx512(const DecodeQ8KArgs* args) noexcept {
  return decode_q8_k_body(*args);
}

}  // namespace assay
