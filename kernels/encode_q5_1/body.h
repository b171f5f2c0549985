#pragma once

#include "kernels/encode_q5_1/encode_q5_1.h"
#include "kernels/formats/encode.h"

namespace assay {
namespace {

inline AssayStatus encode_q5_1_body(const EncodeQ51Args& args) {
  return encode_blocks<EncoderQ51>(args);
}

}  // namespace
}  // namespace assay
