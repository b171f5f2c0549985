#pragma once

#include "kernels/exp/exp.h"
#include "kernels/simd/exp.h"

namespace assay {
namespace {

inline AssayStatus exp_body(const ExpArgs& args) {
  int64_t i = 0;
  for (; i + kLanes <= args.n; i += kLanes) store(args.y + i, exp(load(args.x + i)));
  if (i < args.n) store_tail(args.y + i, exp(load_tail(args.x + i, args.n - i)), args.n - i);
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
