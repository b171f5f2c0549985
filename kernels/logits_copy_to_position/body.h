#pragma once

#include "kernels/logits_copy_to_position/logits_copy_to_position.h"
#include "kernels/simd/stream.h"

namespace assay {
namespace {

inline AssayStatus logits_copy_to_position_body(const LogitsCopyToPositionArgs& args) {
  if (args.vocab < 0 || args.positions < 0 || args.dst_stride < args.vocab) return ASSAY_BAD_SHAPE;
  if (args.position < 0 || args.position >= args.positions) return ASSAY_OUT_OF_RANGE;
  stream(Copy{}, args.src, args.dst + args.position * args.dst_stride, args.vocab);
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
