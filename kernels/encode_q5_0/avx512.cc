#include "kernels/formats/bytes_avx512.h"

#include "kernels/encode_q5_0/body.h"

namespace assay {

extern "C" AssayStatus encode_q5_0_avx512(const EncodeQ50Args* args) noexcept {
  return encode_q5_0_body(*args);
}

}  // namespace assay
