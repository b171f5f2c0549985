// What a reference says of one output tensor: its truth and how far from it a correct kernel may be.
#pragma once

#include <cstdint>
#include <vector>

#include "golden/dtype.h"

namespace assay::reference {

struct EncodedError {
  double weighted = 0;  // sum of w_i (x_i - decoded_i)^2
  double plain = 0;     // sum of (x_i - decoded_i)^2
};

// What blocks were made from, and how their error is weighed.
struct Encoding {
  DType format = DType::f32;
  std::vector<float> source;   // in the order of the blocks' elements
  std::vector<double> weight;  // of each element's squared error
  EncodedError fallback;       // that of an encoder without a search
};

// Of an output that only equal bits count for: it is NaN or infinite, whichever.
inline constexpr std::uint8_t kNotFinite = 2;

// Dense, row-major, in the tensor's logical order. A bounded output fills value and bound; an exact one bytes; an encoded one
// encoding.
struct Expected {
  std::vector<double> value;  // truth in fp64; NaN, infinity and a zero's sign as the definition gives them: a sum of zeros is +0
  std::vector<double> bound;  // B of docs/numerics.md, in the unit of the value; 0 where only +-0 will do (S = 0)
  std::vector<std::uint8_t> bits_only;  // empty, or not 0 where no bound holds and only equal bits count
  std::vector<std::uint8_t> bytes;      // exact outputs: the element bytes, little endian
  Encoding encoding;
};

}  // namespace assay::reference
