#pragma once

#include "kernels/decode_q5_1/decode_q5_1.h"
#include "kernels/formats/decode.h"

namespace assay {
namespace {

inline AssayStatus decode_q5_1_body(const DecodeQ51Args& args) {
  return decode_blocks<FormatQ51>(args);
}

}  // namespace
}  // namespace assay
