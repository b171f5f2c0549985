#pragma once

#include "kernels/encode_q8_0/encode_q8_0.h"
#include "kernels/formats/encode.h"

namespace assay {
namespace {

inline AssayStatus encode_q8_0_body(const EncodeQ80Args& args) {
  return encode_blocks<EncoderQ80>(args);
}

}  // namespace
}  // namespace assay
