#pragma once

#include "kernels/add/add.h"

namespace assay {
namespace {

inline AssayStatus add_body(const AddArgs& args) {
  int64_t i = 0;
  for (; i + kLanes <= args.n; i += kLanes) store(args.y + i, add(load(args.a + i), load(args.b + i)));
  const int64_t rest = args.n - i;
  if (rest > 0) store_tail(args.y + i, add(load_tail(args.a + i, rest), load_tail(args.b + i, rest)), rest);
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
