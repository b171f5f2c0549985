#include "harness/forensics/reduce/shrink.h"

#include <algorithm>
#include <cstring>

#include <stdexcept>

#include "harness/verdict/block_format.h"
#include "reference/bounds.h"

namespace assay {
namespace {

// A type of numbers as bits: 1, and what a power of two keeps, its sign and exponent; 0: it stays as it is.
struct Bits {
  DType dtype;
  std::uint64_t one;
  std::uint64_t power;
};
constexpr Bits kBits[] = {{DType::f32, 0x3f800000, 0xff800000},
                          {DType::f16, 0x3c00, 0xfc00},
                          {DType::bf16, 0x3f80, 0xff80},
                          {DType::f64, 0x3ff0000000000000, 0xfff0000000000000},
                          {DType::i32, 1, 0},
                          {DType::i64, 1, 0},
                          {DType::u8, 1, 0}};

const Bits& bits_of(DType dtype) {
  return *std::ranges::find(kBits, dtype, &Bits::dtype);
}

std::uint64_t read(const std::uint8_t* element, std::size_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, element, bytes);
  return value;
}

// An element that is not 0, as it would be.
std::uint64_t simple_value(DType dtype, std::uint64_t value, Simple simple) {
  const Bits& bits = bits_of(dtype);
  if (simple == Simple::one) return bits.one;
  const std::uint64_t power = value & bits.power;
  // A denormal has no exponent of its own; 1 is as simple as any power.
  return bits.power == 0 || (power & (bits.power >> 1)) == 0 || value == bits.one ? value : power;
}

bool is_zero(const std::uint8_t* bytes, std::size_t count) {
  return std::all_of(bytes, bytes + count, [](std::uint8_t byte) { return byte == 0; });
}

// The indices of an axis that the kept items of a size stand for, where it has so many to each; else about there, as many as there must be.
std::vector<std::int64_t> indices_for(std::int64_t length, std::int64_t shorter, std::size_t items,
                                      std::span<const std::size_t> kept) {
  std::vector<bool> chosen(static_cast<std::size_t>(length), false);
  std::int64_t count = 0;
  const auto choose = [&](std::int64_t index) {
    if (count == shorter || chosen[static_cast<std::size_t>(index)]) return;
    chosen[static_cast<std::size_t>(index)] = true;
    ++count;
  };
  const auto all = static_cast<std::int64_t>(items);
  for (const std::size_t item : kept) {
    const auto first = static_cast<std::int64_t>(item) * length / all;
    const auto next = (static_cast<std::int64_t>(item) + 1) * length / all;
    for (std::int64_t index = first; index < std::max(next, first + 1); ++index) choose(index);
  }
  for (std::int64_t index = 0; index < length; ++index) choose(index);
  std::vector<std::int64_t> indices;
  for (std::int64_t index = 0; index < length; ++index) {
    if (chosen[static_cast<std::size_t>(index)]) indices.push_back(index);
  }
  return indices;
}

// The array with these indices of one axis.
Array taken(const Array& from, std::size_t axis, const std::vector<std::int64_t>& indices) {
  Array out{from.dtype, from.shape, {}};
  out.shape[axis] = static_cast<std::int64_t>(indices.size());
  std::size_t inner = dtype_size(from.dtype);
  for (std::size_t a = axis + 1; a < from.shape.size(); ++a) inner *= static_cast<std::size_t>(from.shape[a]);
  const std::size_t row = inner * static_cast<std::size_t>(from.shape[axis]);
  for (std::size_t at = 0; at < from.bytes.size(); at += row) {
    for (const std::int64_t index : indices) {
      const auto first = from.bytes.begin() + static_cast<std::ptrdiff_t>(at + static_cast<std::size_t>(index) * inner);
      out.bytes.insert(out.bytes.end(), first, first + static_cast<std::ptrdiff_t>(inner));
    }
  }
  return out;
}

}  // namespace

std::vector<ShrinkableSize> shrinkable_sizes(const Op& op, const Params& params) {
  const ShapeSpace space = op.family->shapes(op);
  std::vector<std::pair<std::int64_t, ShrinkableSize>> found;
  for (const auto& [name, value] : params.values()) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    if (whole == nullptr || *whole <= 0) continue;
    if (std::ranges::any_of(space.choices, [&n = name](const Choice& one) { return one.name == n; })) continue;
    const auto size = std::ranges::find_if(space.sizes, [&n = name](const Size& one) { return one.name == n; });
    if (size != space.sizes.end() && size->stride_of != nullptr) continue;
    const std::int64_t unit = size == space.sizes.end() ? 1 : size->unit;
    found.push_back({*whole, {name, unit, static_cast<std::size_t>(reference::ceil_div(*whole, unit))}});
  }
  std::ranges::stable_sort(found, std::greater(), [](const auto& one) { return one.first; });
  std::vector<ShrinkableSize> sizes;
  for (auto& [value, size] : found) sizes.push_back(std::move(size));
  return sizes;
}

std::vector<std::string> optional_params(const Op& op, const Params& params) {
  std::vector<std::string> names;
  for (const Size& size : op.family->shapes(op).sizes) {
    if ((size.optional || size.stride_of != nullptr) && params.has(size.name)) names.emplace_back(size.name);
  }
  return names;
}

Params without_param(const Params& params, const std::string& name) {
  Params fewer;
  for (const auto& [key, value] : params.values()) {
    if (key != name) fewer.set(key, value);
  }
  return fewer;
}

CallData with_items(const Op& op, const CallData& call, const ShrinkableSize& size, std::span<const std::size_t> kept) {
  const std::int64_t value = call.params.integer(size.name);
  const std::int64_t missing = static_cast<std::int64_t>(size.items) * size.unit - value;  // of the last item
  const bool has_last = !kept.empty() && kept.back() + 1 == size.items;
  CallData fewer = call;
  fewer.params.set(size.name, static_cast<std::int64_t>(kept.size()) * size.unit - (has_last ? missing : 0));
  auto input = fewer.inputs.begin();
  for (const TensorSpec& spec : signature_of(op, fewer.params).tensors) {
    if (spec.role == Direction::out) continue;
    Array& array = *input++;
    if (array.shape.size() != spec.shape.size()) throw std::invalid_argument("another number of axes");
    for (std::size_t axis = 0; axis < spec.shape.size(); ++axis) {
      const std::int64_t length = array.shape[axis];
      if (spec.shape[axis] > length) throw std::invalid_argument("a longer axis");
      if (spec.shape[axis] < length) array = taken(array, axis, indices_for(length, spec.shape[axis], size.items, kept));
    }
  }
  return fewer;
}

std::vector<Spot> spots(const std::vector<Array>& inputs, Simple simple, bool inside) {
  std::vector<Spot> found;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Array& array = inputs[i];
    const bool blocks = is_block(array.dtype);
    if (blocks ? simple != Simple::zero : inside) continue;
    const std::size_t element = dtype_size(array.dtype);
    const std::size_t bytes = inside ? 1 : element;
    for (std::size_t at = 0; at < array.bytes.size(); at += bytes) {
      const std::uint8_t* const place = &array.bytes[at];
      if (is_zero(place, bytes) || (inside && is_derived(array.dtype, at % element))) continue;
      const bool simpler = simple == Simple::zero || simple_value(array.dtype, read(place, bytes), simple) != read(place, bytes);
      if (simpler) found.push_back({i, at, bytes});
    }
  }
  return found;
}

CallData simplified(const CallData& call, std::span<const Spot> all, std::span<const std::size_t> kept, Simple simple) {
  CallData simpler = call;
  for (std::size_t s = 0, k = 0; s < all.size(); ++s) {
    if (k < kept.size() && kept[k] == s) {
      ++k;
      continue;
    }
    Array& array = simpler.inputs[all[s].input];
    std::uint8_t* const place = &array.bytes[all[s].offset];
    const std::uint64_t value = simple == Simple::zero ? 0 : simple_value(array.dtype, read(place, all[s].bytes), simple);
    if (simple == Simple::zero) {
      std::memset(place, 0, all[s].bytes);
    } else {
      std::memcpy(place, &value, all[s].bytes);
    }
    const std::size_t element = dtype_size(array.dtype);
    renew_derived(array.dtype, place - all[s].offset % element);
  }
  return simpler;
}

std::int64_t nonzero_count(const std::vector<Array>& inputs) {
  std::int64_t count = 0;
  for (const Array& array : inputs) {
    const std::size_t bytes = is_block(array.dtype) ? 1 : dtype_size(array.dtype);
    for (std::size_t at = 0; at < array.bytes.size(); at += bytes) count += is_zero(&array.bytes[at], bytes) ? 0 : 1;
  }
  return count;
}

}  // namespace assay
