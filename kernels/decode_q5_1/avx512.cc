#include "kernels/formats/bytes_avx512.h"

#include "kernels/decode_q5_1/body.h"

namespace assay {

extern "C" AssayStatus decode_q5_1_avx512(const DecodeQ51Args* args) noexcept {
  return decode_q5_1_body(*args);
}

}  // namespace assay
