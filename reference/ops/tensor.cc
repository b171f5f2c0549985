#include "reference/ops/tensor.h"

#include <stdexcept>
#include <utility>

namespace assay {
namespace {

// Sizes may come from a stranger's file.
std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) throw std::invalid_argument("a tensor with more than 2^63 elements");
  return out;
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) throw std::invalid_argument("a tensor that extends over more than 2^63 elements");
  return out;
}

TensorSpec make(std::string name, DType dtype, Direction role, std::vector<std::int64_t> shape) {
  for (const std::int64_t dim : shape) {
    if (dim < 0) throw std::invalid_argument("tensor '" + name + "' with a dimension of " + std::to_string(dim));
  }
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
  for (const std::int64_t dim : shape) count = product(count, dim);
  return count;
}

std::int64_t TensorSpec::extent() const {
  if (elements() == 0) return 0;
  std::int64_t last = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) last = sum(last, product(shape[axis] - 1, strides[axis]));
  return sum(last, 1);
}

std::size_t TensorSpec::extent_bytes() const {
  return static_cast<std::size_t>(product(extent(), static_cast<std::int64_t>(dtype_size(dtype))));
}

std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = product(strides[axis], shape[axis]);
  return strides;
}

TensorSpec input(std::string name, DType dtype, std::vector<std::int64_t> shape) {
  return make(std::move(name), dtype, Direction::in, std::move(shape));
}

TensorSpec output(std::string name, DType dtype, std::vector<std::int64_t> shape) {
  return make(std::move(name), dtype, Direction::out, std::move(shape));
}

}  // namespace assay
