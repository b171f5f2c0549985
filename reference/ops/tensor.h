// The description of a tensor of a call: all that check, guard pages, bench and runners need to know of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "golden/dtype.h"
#include "golden/generate.h"

namespace assay {

enum class Direction : std::uint8_t { in, out };

struct TensorSpec {
  std::string name;  // the field of the argument struct
  DType dtype = DType::f32;
  Direction role = Direction::in;
  std::vector<std::int64_t> shape;    // logical, outermost first
  std::vector<std::int64_t> strides;  // elements, one a dimension; the innermost is 1
  std::size_t alignment = 1;          // bytes that the op's header demands
  std::vector<std::string> aliases;   // outputs: the inputs that it may be, each laid out alike
  bool in_place_only = false;         // outputs: the op has one buffer, so it always lies on its one alias
  std::optional<Distribution> data;   // inputs: the only data that makes sense here (ids, positions, tables)
  std::size_t summed = 1;             // inputs: an output's sum goes through the last so many dimensions, or through fewer
  // Elements from where the argument struct's pointer points to the tensor's first: where an output is part of a larger buffer, as
  // the rows that kv_store writes are.
  std::int64_t begin = 0;

  // These throw std::invalid_argument where 64 bits do not hold them.
  std::int64_t elements() const;  // product of the shape
  std::int64_t extent() const;    // elements from the first to one past the last, gaps included; 0 if empty
  std::size_t extent_bytes() const;
};

// Row-major strides without gaps.
std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& shape);
TensorSpec input(std::string name, DType dtype, std::vector<std::int64_t> shape);
TensorSpec output(std::string name, DType dtype, std::vector<std::int64_t> shape);

}  // namespace assay
