#pragma once

#include "kernels/decode_q4_0/decode_q4_0.h"
#include "kernels/formats/decode.h"

namespace assay {
namespace {

inline AssayStatus decode_q4_0_body(const DecodeQ40Args& args) {
  return decode_blocks<FormatQ40>(args);
}

}  // namespace
}  // namespace assay
