#pragma once

#include "kernels/decode_q5_0/decode_q5_0.h"
#include "kernels/formats/decode.h"

namespace assay {
namespace {

inline AssayStatus decode_q5_0_body(const DecodeQ50Args& args) {
  return decode_blocks<FormatQ50>(args);
}

}  // namespace
}  // namespace assay
