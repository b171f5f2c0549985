#pragma once

#include "kernels/encode_q4_0/encode_q4_0.h"
#include "kernels/formats/encode.h"

namespace assay {
namespace {

inline AssayStatus encode_q4_0_body(const EncodeQ40Args& args) {
  return encode_blocks<EncoderQ40>(args);
}

}  // namespace
}  // namespace assay
