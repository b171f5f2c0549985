#pragma once

#include "kernels/decode_q5_k/decode_q5_k.h"
#include "kernels/formats/decode.h"

namespace assay {
namespace {

inline AssayStatus decode_q5_k_body(const DecodeQ5KArgs& args) {
  return decode_blocks<FormatQ5K>(args);
}

}  // namespace
}  // namespace assay
