// A tensor with gaps between its rows, in memory: gathered, scattered, compared, and what lies in the gaps.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "golden/hdf5.h"
#include "harness/verdict/guard.h"
#include "reference/ops/tensor.h"

namespace assay {

// Gathers a strided tensor into a dense one, and back.
Array gather(const TensorSpec& spec, const void* base);
void scatter(const TensorSpec& spec, const Array& dense, void* base);
// Zeros in its place.
void clear(const TensorSpec& spec, void* base);

// Calls visit(offset, bytes) for each stretch of the tensor without a gap, from its first byte, in logical order.
void for_each_run(const TensorSpec& spec, const std::function<void(std::size_t offset, std::size_t bytes)>& visit);

// Whether the tensor at `base` is, byte for byte, `dense`.
bool holds(const TensorSpec& spec, const void* base, const Array& dense);

// A tensor, and where its first element lies.
struct Laid {
  const TensorSpec* spec;
  std::uint8_t* base;
};

// Calls visit(begin, end) for each stretch of the memory that holds no element of these tensors, ascending, until it returns false.
void for_each_gap(std::span<const Laid> tensors, const GuardedMemory& memory,
                  const std::function<bool(std::uint8_t* begin, std::uint8_t* end)>& visit);

// Bytes from the one's first element to the other's where this begins in the midst of the one's rows, and where they overlap both hold the same;
// none: they do not.
std::optional<std::size_t> overlap_of(const TensorSpec& one, const Array& held, const TensorSpec& other, const Array& others);

// Bytes from the one's first element to the other's where the rows of both take turns in one memory; none: their gaps have no room for it.
std::optional<std::size_t> turn_of(const TensorSpec& one, const TensorSpec& other);

}  // namespace assay
