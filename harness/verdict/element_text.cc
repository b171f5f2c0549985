#include "harness/verdict/element_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <vector>

#include "harness/verdict/block_format.h"

namespace assay {
namespace {

std::uint64_t element_bits(DType dtype, const std::uint8_t* element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, dtype_size(dtype));
  return bits;
}

}  // namespace

std::string element_name(const TensorSpec& spec, std::int64_t index) {
  std::vector<std::int64_t> position(spec.shape.size());
  for (std::size_t axis = spec.shape.size(); axis-- > 0;) {
    position[axis] = index % spec.shape[axis];
    index /= spec.shape[axis];
  }
  return fmt::format("{}[{}]", spec.name, fmt::join(position, ", "));
}

std::string describe_element(DType dtype, const std::uint8_t* element) {
  if (is_block(dtype)) return fmt::format("({})", describe_block(dtype, element, 4));
  return fmt::format("0x{:0{}x} ({:.9g})", element_bits(dtype, element), 2 * dtype_size(dtype),
                     element_as_double(dtype, element));
}

}  // namespace assay
