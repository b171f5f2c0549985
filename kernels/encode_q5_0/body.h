#pragma once

#include "kernels/encode_q5_0/encode_q5_0.h"
#include "kernels/formats/encode.h"

namespace assay {
namespace {

inline AssayStatus encode_q5_0_body(const EncodeQ50Args& args) {
  return encode_blocks<EncoderQ50>(args);
}

}  // namespace
}  // namespace assay
