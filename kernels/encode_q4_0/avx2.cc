#include "kernels/formats/bytes_avx2.h"

#include "kernels/encode_q4_0/body.h"

namespace assay {

extern "C" AssayStatus encode_q4_0_avx2(const EncodeQ40Args* args) noexcept {
  return encode_q4_0_body(*args);
}

}  // namespace assay
