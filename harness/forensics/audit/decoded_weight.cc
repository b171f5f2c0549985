#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "harness/forensics/audit/formula.h"
#include "reference/blocks.h"
#include "reference/decode.h"

namespace assay {
namespace {

RowMatrix decode_numbers(const Weight& weight) {
  RowMatrix out(weight.rows, weight.cols);
  const std::size_t size = dtype_size(weight.dtype);
  for (std::int64_t i = 0; i < weight.rows * weight.cols; ++i) {
    out.data()[i] = element_as_double(weight.dtype, weight.bytes.data() + static_cast<std::size_t>(i) * size);
  }
  return out;
}

}  // namespace

DecodedWeight decode_weight(const Weight& weight) {
  if (!is_block(weight.dtype)) {
    RowMatrix value = decode_numbers(weight);
    return {value, value.cwiseAbs(), 0};
  }
  if (is_packed(weight.dtype) || weight.dtype == DType::q8_k)
    throw std::invalid_argument("no weights in " + std::string(dtype_name(weight.dtype)));
  const std::int64_t elements = dtype_numbers(weight.dtype);
  DecodedWeight out{RowMatrix(weight.rows, weight.cols), RowMatrix(weight.rows, weight.cols), weight.cols / elements};
  for (std::int64_t b = 0; b < weight.rows * out.blocks; ++b) {
    const reference::Block block =
        reference::read_block(weight.dtype, weight.bytes.data() + b * reference::block_bytes(weight.dtype));
    for (int i = 0; i < elements; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::int64_t index = b * elements + i;
      out.value.data()[index] = block.value(i);
      out.split.data()[index] =
          std::abs(block.d * block.scale[at] * block.code[at]) + (block.has_min ? std::abs(block.dmin * block.min[at]) : 0);
    }
  }
  return out;
}

}  // namespace assay
