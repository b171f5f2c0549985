#include "kernels/formats/bytes_avx2.h"

#include "kernels/decode_q5_0/body.h"

namespace assay {

extern "C" AssayStatus decode_q5_0_avx2(const DecodeQ50Args* args) noexcept {
  return decode_q5_0_body(*args);
}

}  // namespace assay
