#include "kernels/formats/bytes_avx2.h"

#include "kernels/decode_q5_k/body.h"

namespace assay {

extern "C" AssayStatus decode_q5_k_avx2(const DecodeQ5KArgs* args) noexcept {
  return decode_q5_k_body(*args);
}

}  // namespace assay
