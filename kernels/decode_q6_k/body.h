#pragma once

#include "kernels/decode_q6_k/decode_q6_k.h"
#include "kernels/formats/decode.h"

namespace assay {
namespace {

inline AssayStatus decode_q6_k_body(const DecodeQ6KArgs& args) {
  return decode_blocks<FormatQ6K>(args);
}

}  // namespace
}  // namespace assay
