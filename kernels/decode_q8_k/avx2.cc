#include "kernels/formats/bytes_avx2.h"

#include "kernels/decode_q8_k/body.h"

namespace assay {

extern "C" AssayStatus decode_q8_k_avx2(const DecodeQ8KArgs* args) noexcept {
  return decode_q8_k_body(*args);
}

}  // namespace assay
