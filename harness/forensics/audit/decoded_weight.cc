#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "harness/forensics/audit/formula_parts.h"
#include "reference/blocks.h"
#include "reference/decode.h"

namespace assay {
namespace {

WeightRows read_numbers(DType dtype, const std::uint8_t* bytes, std::int64_t rows, std::int64_t cols) {
  RowMatrix value(rows, cols);
  const std::size_t size = dtype_size(dtype);
  for (std::int64_t i = 0; i < rows * cols; ++i)
    value.data()[i] = element_as_double(dtype, bytes + static_cast<std::size_t>(i) * size);
  RowMatrix split = value.cwiseAbs();
  return {std::move(value), std::move(split)};
}

WeightRows read_blocks(DType dtype, const std::uint8_t* bytes, std::int64_t rows, std::int64_t cols) {
  WeightRows out{RowMatrix(rows, cols), RowMatrix(rows, cols)};
  double* value = out.value.data();
  double* split = out.split.data();
  for (std::int64_t b = 0; b < rows * cols / dtype_numbers(dtype); ++b, bytes += reference::block_bytes(dtype)) {
    const reference::Block block = reference::read_block(dtype, bytes);
    for (int i = 0; i < block.elements; ++i) {
      const auto at = static_cast<std::size_t>(i);
      *value++ = block.value(i);
      *split++ =
          std::abs(block.d * block.scale[at] * block.code[at]) + (block.has_min ? std::abs(block.dmin * block.min[at]) : 0);
    }
  }
  return out;
}

}  // namespace

DecodedWeight::DecodedWeight(const Weight& stored) : stored_(&stored) {
  if (!is_block(stored.dtype)) return;
  if (is_packed(stored.dtype) || stored.dtype == DType::q8_k)
    throw std::invalid_argument("no weights in " + std::string(dtype_name(stored.dtype)));
  blocks_ = stored.cols / dtype_numbers(stored.dtype);
}

DecodedWeight::DecodedWeight(RowMatrix numbers) {
  held_.split = numbers.cwiseAbs();
  held_.value = std::move(numbers);
}

WeightRows DecodedWeight::rows(std::int64_t first, std::int64_t count) const {
  WeightRows wide = wide_rows(first, count);
  if (narrowed_ == ActivationRounding::none) return wide;
  const RowMatrix value = formula::rounded(wide.value, narrowed_);
  return {value, value.cwiseAbs()};
}

WeightRows DecodedWeight::wide_rows(std::int64_t first, std::int64_t count) const {
  if (stored_ == nullptr) return {held_.value.middleRows(first, count), held_.split.middleRows(first, count)};
  const std::uint8_t* const bytes = stored_->bytes.data() + first * (std::ssize(stored_->bytes) / stored_->rows);
  return (is_block(stored_->dtype) ? read_blocks : read_numbers)(stored_->dtype, bytes, count, stored_->cols);
}

DecodedWeight DecodedWeight::transposed() const {
  const WeightRows all = rows(0, rows());
  DecodedWeight out(RowMatrix(all.value.transpose()));
  out.held_.split = all.split.transpose();
  out.blocks_ = blocks_;
  return out;
}

// In f16 or bf16 numbers are rounded as they are decoded, and summed as numbers are. The others as ONNX Runtime's quantize_dynamic says. Of
// i8_tensor: one scale in f32, ties to even; its integers are exact, so the sum is one block's. Numbers of u8_tensor are made before the product,
// each by a rounding.
DecodedWeight DecodedWeight::through(WeightRounding rounding) const {
  if (rounding == WeightRounding::f16 || rounding == WeightRounding::bf16) {
    DecodedWeight out = *this;
    out.narrowed_ = rounding == WeightRounding::f16 ? ActivationRounding::f16 : ActivationRounding::bf16;
    out.blocks_ = 0;
    return out;
  }
  RowMatrix value = rows(0, rows()).value;
  if (rounding == WeightRounding::u8_tensor) {
    value = formula::rounded(value, ActivationRounding::u8_tensor);
  } else {
    const auto scale = static_cast<float>(value.cwiseAbs().maxCoeff() * 2 / 254);
    for (double& w : value.reshaped())
      w = scale == 0 ? 0 : static_cast<double>(scale) * static_cast<double>(std::nearbyint(static_cast<float>(w) / scale));
  }
  DecodedWeight out(std::move(value));
  out.blocks_ = rounding == WeightRounding::u8_tensor ? cols() : 1;
  return out;
}

}  // namespace assay
