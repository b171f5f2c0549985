#pragma once

#include "kernels/encode_q4_1/encode_q4_1.h"
#include "kernels/formats/encode.h"

namespace assay {
namespace {

inline AssayStatus encode_q4_1_body(const EncodeQ41Args& args) {
  return encode_blocks<EncoderQ41>(args);
}

}  // namespace
}  // namespace assay
