#include "kernels/formats/bytes_avx512.h"

#include "kernels/decode_q5_k/body.h"

namespace assay {

extern "C" AssayStatus decode_q5_k_avx512(const DecodeQ5KArgs* args) noexcept {
  return decode_q5_k_body(*args);
}

}  // namespace assay
