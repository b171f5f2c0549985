// What descriptions of ops are written with: sizes out of parameters, tensors, and functions of a family's own argument struct.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "golden/params.h"
#include "reference/bounds.h"
#include "reference/ops/op.h"

namespace assay {

using reference::ceil_div;

// A size: not negative, and small enough that products do not overflow.
std::int64_t size_of(const Params& params, const char* name);
// A stride: dense where the params do not give it, and at least that.
std::int64_t stride_of(const Params& params, const char* name, std::int64_t dense);
// A number that need not be a size: small enough that neither a sum nor a product of two overflows.
std::int64_t bounded_or(const Params& params, const char* name, std::int64_t fallback, std::int64_t most = kMostNumber);

inline TensorSpec strided(TensorSpec spec, std::vector<std::int64_t> strides) {
  spec.strides = std::move(strides);
  return spec;
}
// An output that may be one of these inputs itself.
inline TensorSpec in_place(TensorSpec spec, std::vector<std::string> aliases) {
  spec.aliases = std::move(aliases);
  return spec;
}
// An input for which only this data makes sense.
inline TensorSpec with_data(TensorSpec spec, Distribution data) {
  spec.data = std::move(data);
  return spec;
}
// A size that has values in use, constants that steer kernels, a limit.
inline Size used(Size size, std::vector<Column> in_use, std::vector<Border> borders = {}) {
  size.in_use = std::move(in_use);
  size.borders = std::move(borders);
  return size;
}
inline Size limited(Size size, std::int64_t limit) {
  size.limit = limit;
  return size;
}
// A stride that other rows lie within, or outside; `other` is their stride.
inline Size instead_of(const char* other, Size size) {
  size.without = other;
  return size;
}
// A stride that may be 0.
inline Size broadcast(Size size) {
  size.may_be_0 = true;
  return size;
}
// Of a tensor [outers, inners, width] the stride of `inners` where the params do not give it: the width, but where they give an outer stride
// in which the inners have no room the outers lie within them.
std::int64_t inner_stride(const Params& params, const char* outer_stride, std::int64_t outers, std::int64_t inners,
                          std::int64_t width);

struct Axis {
  std::int64_t count;
  std::int64_t stride;
};
// Throws std::invalid_argument where rows of that width overlap, whichever axis lies within which.
void check_apart(const char* tensor, std::int64_t width, std::vector<Axis> axes);

// A row stride of vast calls, in elements: the third row lies past 2^31 of them, the fifth past 2^32, no row
// beside another's place modulo a power of two.
inline constexpr std::int64_t kVastStride = (std::int64_t{1} << 30) + 48 * 37;

// Inputs first.
inline Signature call_of(std::vector<TensorSpec> inputs, std::vector<TensorSpec> outputs, std::vector<Split> splits) {
  for (TensorSpec& output : outputs) inputs.push_back(std::move(output));
  return {std::move(inputs), std::move(splits)};
}

// Blocks, or numbers, that cover k numbers. A length that is no whole number of blocks is the kernel's to refuse.
inline std::int64_t length_of(DType dtype, std::int64_t k) {
  return ceil_div(k, dtype_numbers(dtype));
}
inline double bytes_of(DType dtype, std::int64_t elements) {
  return static_cast<double>(dtype_size(dtype)) * static_cast<double>(elements);
}

// Field::otherwise: the value of another field, or a constant.
template <auto kMember>
std::int64_t same_as(const Op&, const Params&, const void* args) {
  return []<class Args, class T>(T Args::*member, const void* a) { return std::int64_t{static_cast<const Args*>(a)->*member}; }(
             kMember, args);
}
template <std::int64_t kValue>
std::int64_t constant(const Op&, const Params&, const void*) {
  return kValue;
}

// `erased<f>` is f, which takes its family's argument struct by reference, as a function of `const void*`.
template <class T>
inline constexpr bool kIsArguments = std::is_reference_v<T> && std::is_trivially_copyable_v<std::remove_cvref_t<T>> &&
                                     !std::is_same_v<T, const Op&> && !std::is_same_v<T, const reference::Arithmetic&>;

template <class T>
using Erased = std::conditional_t<kIsArguments<T>, const void*, T>;

template <class T>
T restored(Erased<T> value) {
  if constexpr (kIsArguments<T>) {
    return *static_cast<std::remove_reference_t<T>*>(value);
  } else {
    return static_cast<T>(value);
  }
}

template <auto kFunction>
inline constexpr auto erased =
    []<class R, class... A>(R (*)(A...)) { return +[](Erased<A>... a) -> R { return kFunction(restored<A>(a)...); }; }(kFunction);

// Family::reference of one output, by its definition, which may ask for Op::from.
template <class Args>
void define(void (*definition)(const Args&, reference::Expected&), const Op&, const void* args, reference::Expected& y) {
  definition(*static_cast<const Args*>(args), y);
}
template <class Args>
void define(void (*definition)(DType, const Args&, reference::Expected&), const Op& op, const void* args,
            reference::Expected& y) {
  definition(op.from, *static_cast<const Args*>(args), y);
}
template <auto kDefinition>
void truth_of(const Op& op, const void* args, std::span<reference::Expected> outputs) {
  define(kDefinition, op, args, outputs[0]);
}

// Family::declared, likewise.
template <class Args>
void define(void (*definition)(const Args&, const reference::Arithmetic&, reference::Expected&), const Op&, const void* args,
            const reference::Arithmetic& how, reference::Expected& y) {
  definition(*static_cast<const Args*>(args), how, y);
}
template <class Args>
void define(void (*definition)(DType, const Args&, const reference::Arithmetic&, reference::Expected&), const Op& op,
            const void* args, const reference::Arithmetic& how, reference::Expected& y) {
  definition(op.from, *static_cast<const Args*>(args), how, y);
}
template <auto kDefinition>
void declared_of(const Op& op, const void* args, const reference::Arithmetic& how, std::span<reference::Expected> outputs) {
  define(kDefinition, op, args, how, outputs[0]);
}
// Family::declarable that is always the same.
template <std::uint32_t kWhat>
std::uint32_t always(const Op&, const reference::Arithmetic&) {
  return kWhat;
}

// The families' ops, in the order of their rows.
std::span<const Op> conversion_ops();
std::span<const Op> packing_ops();
std::span<const Op> product_ops();
std::span<const Op> norm_ops();
std::span<const Op> activation_ops();
std::span<const Op> rope_ops();
std::span<const Op> lookup_ops();
std::span<const Op> codec_ops();
std::span<const Op> kv_ops();
std::span<const Op> attention_ops();

}  // namespace assay
