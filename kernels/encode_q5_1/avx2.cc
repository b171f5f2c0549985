#include "kernels/formats/bytes_avx2.h"

#include "kernels/encode_q5_1/body.h"

namespace assay {

extern "C" AssayStatus encode_q5_1_avx2(const EncodeQ51Args* args) noexcept {
  return encode_q5_1_body(*args);
}

}  // namespace assay
