// What the adapters share: reading sizes from params and pointers from a call.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/verdict/adapter.h"

namespace assay {

// A size: not negative, and small enough that products do not overflow.
inline std::int64_t size_of(const Params& params, const char* name) {
  const std::int64_t value = params.integer(name);
  if (value < 0 || value > std::int64_t{1} << 31) {
    throw std::invalid_argument(std::string(name) + " = " + std::to_string(value) + "; expected 0 .. 2^31");
  }
  return value;
}

// A stride: dense where the params do not give it, and at least that.
inline std::int64_t stride_of(const Params& params, const char* name, std::int64_t dense) {
  const std::int64_t value = params.integer_or(name, dense);
  if (value < dense || value > std::int64_t{1} << 31) {
    throw std::invalid_argument(std::string(name) + " = " + std::to_string(value) + "; expected at least " +
                                std::to_string(dense));
  }
  return value;
}

// A number that need not be a size, such as a position: small enough that neither a sum nor a product of two overflows.
inline std::int64_t bounded_or(const Params& params, const std::string& name, std::int64_t fallback) {
  if (!params.has(name)) return fallback;
  const std::int64_t value = params.integer(name);
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (value < -kMost || value > kMost)
    throw std::invalid_argument(name + " = " + std::to_string(value) + "; expected -2^31 .. 2^31");
  return value;
}

// An enumerator by its name in goldens.
inline std::int32_t enumerator(const Params& params, const char* name, const std::vector<std::string>& names) {
  const std::string& text = params.text(name);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<std::int32_t>(i);
  }
  std::string known;
  for (const std::string& n : names) known += " " + n;
  throw std::invalid_argument(std::string(name) + " = '" + text + "'; expected one of" + known);
}

template <class T>
T* pointer(std::span<void* const> tensors, std::size_t index) {
  return static_cast<T*>(tensors[index]);
}

// One row of activations against n rows of weights, tensors w, x, y: every gemv's arguments.
template <class Args>
Args bind_row_product(const Params& params, std::span<void* const> tensors) {
  Args args{};
  args.w = static_cast<decltype(args.w)>(tensors[0]);
  args.x = static_cast<decltype(args.x)>(tensors[1]);
  args.y = pointer<float>(tensors, 2);
  args.n = params.integer("n");
  args.k = params.integer("k");
  return args;
}

// m rows of activations: every gemm's. `x_columns`: elements of a dense row of x.
template <class Args>
Args bind_product(const Params& params, std::span<void* const> tensors, std::int64_t x_columns) {
  Args args = bind_row_product<Args>(params, tensors);
  args.m = params.integer("m");
  args.x_stride = params.integer_or("x_stride", x_columns);
  args.y_stride = params.integer_or("y_stride", args.n);
  return args;
}

inline TensorSpec strided(TensorSpec spec, std::vector<std::int64_t> strides) {
  spec.strides = std::move(strides);
  return spec;
}

// An output that may be its input `alias` itself.
inline TensorSpec in_place(TensorSpec spec, std::string alias) {
  spec.alias = std::move(alias);
  return spec;
}

// An input for which only this data makes sense.
inline TensorSpec with_data(TensorSpec spec, Distribution data) {
  spec.data = std::move(data);
  return spec;
}

inline constexpr std::int64_t kTileRows = 32;
inline std::int64_t tiles(std::int64_t n) {
  return (n + kTileRows - 1) / kTileRows;
}

}  // namespace assay

// The function that harness/verdict/ops.inc names.
#define ASSAY_DEFINE_ADAPTER(op, type) \
  namespace assay {                    \
  const Adapter& op##_adapter() {      \
    static const type adapter;         \
    return adapter;                    \
  }                                    \
  }
