#pragma once

#include "kernels/decode_q8_k/decode_q8_k.h"
#include "kernels/formats/decode.h"

namespace assay {
namespace {

inline AssayStatus decode_q8_k_body(const DecodeQ8KArgs& args) {
  return decode_blocks<FormatQ8K>(args);
}

}  // namespace
}  // namespace assay
