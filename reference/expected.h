// What a reference says of one output tensor: its truth and how far from it a correct kernel may be.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::reference {

// Dense, row-major, in the tensor's logical order. A bounded output fills value and bound; an exact one bytes.
struct Expected {
  std::vector<double> value;            // truth in fp64; NaN and infinity as the definition gives them
  std::vector<double> bound;            // B of docs/numerics.md, in the unit of the value; 0 where only +-0 will do (S = 0)
  std::vector<std::uint8_t> bits_only;  // empty, or 1 where no bound holds and only equal bits count
  std::vector<std::uint8_t> bytes;      // exact outputs: the element bytes, little endian
};

}  // namespace assay::reference
