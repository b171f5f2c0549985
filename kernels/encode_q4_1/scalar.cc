#include "kernels/formats/bytes_scalar.h"

#include "kernels/encode_q4_1/body.h"

namespace assay {

extern "C" AssayStatus encode_q4_1_scalar(const EncodeQ41Args* args) noexcept {
  return encode_q4_1_body(*args);
}

}  // namespace assay
