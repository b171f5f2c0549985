#pragma once

#include "kernels/encode_q6_k/encode_q6_k.h"
#include "kernels/formats/encode_centred.h"

namespace assay {
namespace {

inline AssayStatus encode_q6_k_body(const EncodeQ6KArgs& args) {
  return encode_super_blocks<EncoderQ6K>(args);
}

}  // namespace
}  // namespace assay
