#include "kernels/formats/bytes_avx2.h"

#include "kernels/decode_q4_k/body.h"

namespace assay {

extern "C" AssayStatus decode_q4_k_avx2(const DecodeQ4KArgs* args) noexcept {
  return decode_q4_k_body(*args);
}

}  // namespace assay
