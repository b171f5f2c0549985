// A tensor as a model file holds it, whichever format that is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "golden/dtype.h"

namespace assay {

struct StoredTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;      // in numbers, row-major, outermost first; of a block type, the last is whole blocks
  std::span<const std::uint8_t> bytes;  // in the mapped file, aligned for the type
  std::uint64_t offset = 0;             // of those bytes in the file
  std::string file;
};

}  // namespace assay
