#include "kernels/formats/bytes_scalar.h"

#include "kernels/encode_q8_0/body.h"

namespace assay {

extern "C" AssayStatus encode_q8_0_scalar(const EncodeQ80Args* args) noexcept {
  return encode_q8_0_body(*args);
}

}  // namespace assay
