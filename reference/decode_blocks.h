// decode_<format>: blocks to the f32 values that they stand for.
#pragma once

#include "kernels/codecs/codecs.h"
#include "reference/blocks.h"
#include "reference/contract.h"
#include "reference/decode.h"
#include "reference/expected.h"

namespace assay::reference {

// NaNs come out of arithmetic with a scale that is no number.
inline constexpr Contract kDecodeContract{"every block", Exactness::exact, "bits equal", BiasUnit::none, true};

inline void decode_blocks(Format format, const CodecArgs& args, Expected& dst) {
  const std::vector<float> values = decode(format, args.src, args.k);
  dst = {};
  append_bytes(dst.bytes, values.data(), values.size());
}

}  // namespace assay::reference
