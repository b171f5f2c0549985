#pragma once

#include "kernels/encode_q5_k/encode_q5_k.h"
#include "kernels/formats/encode_affine.h"

namespace assay {
namespace {

inline AssayStatus encode_q5_k_body(const EncodeQ5KArgs& args) {
  return encode_super_blocks<EncoderQ5K>(args);
}

}  // namespace
}  // namespace assay
