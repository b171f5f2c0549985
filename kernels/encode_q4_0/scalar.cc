#include "kernels/formats/bytes_scalar.h"

#include "kernels/encode_q4_0/body.h"

namespace assay {

extern "C" AssayStatus encode_q4_0_scalar(const EncodeQ40Args* args) noexcept {
  return encode_q4_0_body(*args);
}

}  // namespace assay
