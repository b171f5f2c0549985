#include "kernels/formats/bytes_avx512.h"

#include "kernels/decode_q4_1/body.h"

namespace assay {

extern "C" AssayStatus decode_q4_1_avx512(const DecodeQ41Args* args) noexcept {
  return decode_q4_1_body(*args);
}

}  // namespace assay
