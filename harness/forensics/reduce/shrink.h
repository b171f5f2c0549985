// Smaller and simpler calls: sizes with some of their rows or blocks left out, elements replaced. Whether such a call makes sense, the op's
// description says; what it computes, the reference.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "golden/hdf5.h"
#include "reference/ops/op.h"

namespace assay {

// What makes a call: its inputs are dense, in the order of the signature.
struct CallData {
  Params params;
  std::vector<Array> inputs;
};

// A size, as items that may be left out: units of it, the last of which may be shorter.
struct ShrinkableSize {
  std::string name;
  std::int64_t unit;
  std::size_t items;
};

// Whole numbers above 0 among the parameters that are neither choices nor strides, the largest first.
std::vector<ShrinkableSize> shrinkable_sizes(const Op& op, const Params& params);
// Parameters that a call may do without: strides and those with a value of their own.
std::vector<std::string> optional_params(const Op& op, const Params& params);

Params without_param(const Params& params, const std::string& name);

// The call with these items of a size; of each axis that gets shorter by it the indices that they stand for. Throws std::logic_error where
// there is no such call.
CallData with_items(const Op& op, const CallData& call, const ShrinkableSize& size, std::span<const std::size_t> kept);

// What takes the place of an element: 0; 1; the power of two at or below its magnitude, with its sign.
enum class Simple : std::uint8_t { zero, one, power_of_two };

// Bytes of an input: a number, a block, or a byte of a block.
struct Spot {
  std::size_t input;
  std::size_t offset;
  std::size_t bytes;
};

// Those that are not yet as simple. Blocks can be 0 alone: whole, or, if `inside`, byte by byte.
std::vector<Spot> spots(const std::vector<Array>& inputs, Simple simple, bool inside);

// The call with all spots replaced but those whose numbers are in `kept`.
CallData simplified(const CallData& call, std::span<const Spot> all, std::span<const std::size_t> kept, Simple simple);

// Numbers of the inputs that are not 0; of blocks, bytes.
std::int64_t nonzero_count(const std::vector<Array>& inputs);

}  // namespace assay
