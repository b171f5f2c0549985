#pragma once

#include "kernels/decode_q4_k/decode_q4_k.h"
#include "kernels/formats/decode.h"

namespace assay {
namespace {

inline AssayStatus decode_q4_k_body(const DecodeQ4KArgs& args) {
  return decode_blocks<FormatQ4K>(args);
}

}  // namespace
}  // namespace assay
