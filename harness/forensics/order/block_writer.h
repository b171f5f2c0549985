// Blocks of a quantised format with one element that is not 0, or with every element 1.
#pragma once

#include <cstdint>
#include <vector>

#include "golden/hdf5.h"
#include "reference/blocks.h"

namespace assay::order {

inline constexpr int kEveryElement = -1;

// Learnt from the format's reader: which bit of a block adds how much to which of its numbers. Scales of sub-blocks are 1, minima 0.
class BlockWriter {
 public:
  explicit BlockWriter(reference::Format format);

  // Block `index`: `factor`, which the scale's type holds, at `element`, or at all; 0 elsewhere.
  void write(double factor, int element, Array& blocks, std::int64_t index) const;

 private:
  struct Bit {
    std::size_t at;
    int adds;
  };
  void set_code(int element, int code, std::uint8_t* block) const;

  reference::Format format_;
  reference::Block zero_;                // of zero bytes
  std::vector<std::vector<Bit>> codes_;  // an element each
  std::vector<std::size_t> ones_;        // bits that make sub-blocks' scales 1
  std::size_t scale_at_ = 0;             // of the block's scale, in bytes
  bool half_scale_ = true;               // f16; else f32
};

}  // namespace assay::order
