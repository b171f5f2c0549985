#include "kernels/formats/bytes_avx2.h"

#include "kernels/encode_q4_1/body.h"

namespace assay {

extern "C" AssayStatus encode_q4_1_avx2(const EncodeQ41Args* args) noexcept {
  return encode_q4_1_body(*args);
}

}  // namespace assay
