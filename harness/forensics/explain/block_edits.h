// Fields of blocks, and how they are misread.
#pragma once

#include <cstdint>
#include <span>

#include "golden/dtype.h"

namespace assay::why {

using Bytes = std::uint8_t*;
using Old = const std::uint8_t*;

// Where a format's fields lie (docs/formats.md): first byte and count; 0 bytes: it has none.
struct Fields {
  DType dtype;
  int d, d_bytes;
  int min, min_bytes;
  int scales, scale_bytes;
  int high, high_bytes;
  int codes, code_bytes;  // of nibbles; of q8 whole codes
};
const Fields* fields_of(DType dtype);  // null: no blocks

struct Edit {
  const char* name;
  const char* kind;
  const char* words;
  bool (*concerns)(const Fields&);
  // `block` as read wrongly; `next` and `before`: its neighbours in the row, itself at the ends; `first`: the row's first.
  void (*make)(const Fields& f, Bytes block, Old next, Old before, Old first);
};
std::span<const Edit> block_edits();

}  // namespace assay::why
