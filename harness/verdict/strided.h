// A tensor with gaps between its rows, in memory: gathered, scattered, compared, and what lies in the gaps.
#pragma once

#include <cstdint>
#include <functional>

#include "golden/hdf5.h"
#include "harness/verdict/guard.h"
#include "reference/ops/tensor.h"

namespace assay {

// Gathers a strided tensor into a dense one, and back.
Array gather(const TensorSpec& spec, const void* base);
void scatter(const TensorSpec& spec, const Array& dense, void* base);

// Whether the tensor at `base` is, byte for byte, `dense`.
bool holds(const TensorSpec& spec, const void* base, const Array& dense);

// Calls visit(begin, end) for each stretch of the memory that holds no element of the tensor at `base`, ascending, until it returns false.
void for_each_gap(const TensorSpec& spec, const GuardedMemory& memory, std::uint8_t* base,
                  const std::function<bool(std::uint8_t* begin, std::uint8_t* end)>& visit);

}  // namespace assay
