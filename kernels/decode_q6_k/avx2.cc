#include "kernels/formats/bytes_avx2.h"

#include "kernels/decode_q6_k/body.h"

namespace assay {

extern "C" AssayStatus decode_q6_k_avx2(const DecodeQ6KArgs* args) noexcept {
  return decode_q6_k_body(*args);
}

}  // namespace assay
