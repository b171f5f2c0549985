#include "kernels/formats/bytes_avx2.h"

#include "kernels/decode_q8_0/body.h"

namespace assay {

extern "C" AssayStatus decode_q8_0_avx2(const DecodeQ80Args* args) noexcept {
  return decode_q8_0_body(*args);
}

}  // namespace assay
