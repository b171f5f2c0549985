#include "harness/tensor.h"

#include <utility>

namespace assay {
namespace {

TensorSpec make(std::string name, DType dtype, Direction role, std::vector<std::int64_t> shape) {
  TensorSpec spec;
  spec.name = std::move(name);
  spec.dtype = dtype;
  spec.role = role;
  spec.strides = dense_strides(shape);
  spec.shape = std::move(shape);
  spec.alignment = dtype_alignment(dtype);
  return spec;
}

}  // namespace

std::int64_t TensorSpec::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t dim : shape) count *= dim;
  return count;
}

std::int64_t TensorSpec::extent() const {
  if (elements() == 0) return 0;
  std::int64_t last = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) last += (shape[axis] - 1) * strides[axis];
  return last + 1;
}

std::size_t TensorSpec::extent_bytes() const {
  return static_cast<std::size_t>(extent()) * dtype_size(dtype);
}

std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

TensorSpec input(std::string name, DType dtype, std::vector<std::int64_t> shape) {
  return make(std::move(name), dtype, Direction::in, std::move(shape));
}

TensorSpec output(std::string name, DType dtype, std::vector<std::int64_t> shape) {
  return make(std::move(name), dtype, Direction::out, std::move(shape));
}

}  // namespace assay
