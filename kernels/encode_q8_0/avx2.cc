#include "kernels/formats/bytes_avx2.h"

#include "kernels/encode_q8_0/body.h"

namespace assay {

extern "C" AssayStatus encode_q8_0_avx2(const EncodeQ80Args* args) noexcept {
  return encode_q8_0_body(*args);
}

}  // namespace assay
