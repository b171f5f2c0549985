#pragma once

#include "kernels/encode_q4_k/encode_q4_k.h"
#include "kernels/formats/encode_affine.h"

namespace assay {
namespace {

inline AssayStatus encode_q4_k_body(const EncodeQ4KArgs& args) {
  return encode_super_blocks<EncoderQ4K>(args);
}

}  // namespace
}  // namespace assay
