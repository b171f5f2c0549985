#pragma once

#include "kernels/decode_q4_1/decode_q4_1.h"
#include "kernels/formats/decode.h"

namespace assay {
namespace {

inline AssayStatus decode_q4_1_body(const DecodeQ41Args& args) {
  return decode_blocks<FormatQ41>(args);
}

}  // namespace
}  // namespace assay
