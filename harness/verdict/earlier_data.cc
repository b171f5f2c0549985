#include "harness/verdict/earlier_data.h"

#include <algorithm>
#include <cstring>

#include "harness/verdict/row_patterns.h"

namespace assay {
namespace {

// The largest number but the first and the last, of many some, becomes the smallest; an index, or a block, the one before it. Where there are
// three rows, not in the first or the last one.
std::vector<Array> one_changed(std::vector<Array> inputs) {
  constexpr std::int64_t kSome = 4096;
  for (Array& input : inputs) {
    const std::int64_t count = input.elements();
    if (count < 2) continue;
    const std::size_t size = dtype_size(input.dtype);
    const auto at = [&](std::int64_t i) { return &input.bytes[static_cast<std::size_t>(i) * size]; };
    const auto number = [&](std::int64_t i) { return is_float(input.dtype) ? element_as_double(input.dtype, at(i)) : 0; };
    std::int64_t changed = std::max<std::int64_t>(1, count * 3 / 8);
    std::int64_t other = changed - 1;
    const bool rows = input.shape.size() > 1 && input.shape.front() > 2;
    const std::int64_t outer = rows ? count / input.shape.front() : 1;
    const std::int64_t from = count > 2 * kSome ? std::max(changed, outer) : outer;
    double largest = number(changed);
    double smallest = number(other);
    for (std::int64_t i = from; is_float(input.dtype) && i < std::min(from + 2 * kSome, count - outer); ++i) {
      const double value = number(i);
      if (value > largest) {
        largest = value;
        changed = i;
      }
      if (value < smallest) {
        smallest = value;
        other = i;
      }
    }
    std::copy_n(at(other), size, at(changed));
  }
  return inputs;
}

// All but the first are factors of 1 and terms of 0; blocks are 0, indices as they are.
std::vector<Array> neutral(std::vector<Array> inputs) {
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (is_block(inputs[i].dtype)) std::ranges::fill(inputs[i].bytes, std::uint8_t{0});
    for (std::int64_t n = 0; is_float(inputs[i].dtype) && n < inputs[i].elements(); ++n) put_neutral(inputs[i], n, i);
  }
  return inputs;
}

}  // namespace

std::vector<Array> moved_on(std::vector<Array> inputs, bool ends_alike) {
  constexpr std::int64_t kAlike = 16;  // numbers
  for (Array& input : inputs) {
    const std::size_t element = dtype_size(input.dtype);
    const std::int64_t most = is_block(input.dtype) ? 1 : kAlike;
    const std::int64_t kept = ends_alike && input.elements() > 3 ? std::min(input.elements() / 3, most) : 0;
    const std::size_t end = static_cast<std::size_t>(kept) * element;
    if (input.bytes.size() <= 2 * end + element) continue;
    const std::size_t behind = input.bytes.size() - 2 * end - element;  // bytes that move
    std::uint8_t* const first = &input.bytes[end];
    const std::vector<std::uint8_t> moved(first, first + element);
    std::memmove(first, first + element, behind);
    std::ranges::copy(moved, first + behind);
  }
  return inputs;
}

std::vector<Array> earlier_data(Before before, const std::vector<Array>& inputs) {
  switch (before) {
    case Before::nothing:
      break;
    case Before::moved:
      return moved_on(inputs, true);
    case Before::one_changed:
      return one_changed(inputs);
    case Before::neutral:
      return neutral(inputs);
  }
  return inputs;
}

}  // namespace assay
