#include "kernels/formats/bytes_avx2.h"

#include "kernels/decode_q4_0/body.h"

namespace assay {

extern "C" AssayStatus decode_q4_0_avx2(const DecodeQ40Args* args) noexcept {
  return decode_q4_0_body(*args);
}

}  // namespace assay
