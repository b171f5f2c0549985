#include "kernels/formats/bytes_scalar.h"

#include "kernels/encode_q5_1/body.h"

namespace assay {

extern "C" AssayStatus encode_q5_1_scalar(const EncodeQ51Args* args) noexcept {
  return encode_q5_1_body(*args);
}

}  // namespace assay
