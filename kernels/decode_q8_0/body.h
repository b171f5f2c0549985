#pragma once

#include "kernels/decode_q8_0/decode_q8_0.h"
#include "kernels/formats/decode.h"

namespace assay {
namespace {

inline AssayStatus decode_q8_0_body(const DecodeQ80Args& args) {
  return decode_blocks<FormatQ80>(args);
}

}  // namespace
}  // namespace assay
