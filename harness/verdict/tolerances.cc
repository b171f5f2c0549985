#include "harness/verdict/tolerances.h"

#include <cmath>
#include <limits>

#include "reference/block_packing.h"

namespace assay {

void Tolerances::add(double value, double truth) {
  if (!std::isfinite(value) || !std::isfinite(truth)) {
    const bool alike = std::isnan(truth) ? std::isnan(value) : value == truth;
    classes_differ = classes_differ || !alike;
    return;
  }
  const double error = value - truth;
  error_squares += error * error;
  truth_squares += truth * truth;
  all_close = all_close && std::fabs(error) <= kUsualClose + kUsualClose * std::fabs(truth);
}

void Tolerances::add(DType dtype, const std::uint8_t* got, const std::uint8_t* want) {
  const std::vector<double> values = element_values(dtype, got);
  const std::vector<double> truths = element_values(dtype, want);
  for (std::size_t i = 0; i < values.size(); ++i) add(values[i], truths[i]);
}

void Tolerances::add(const Tolerances& other) {
  error_squares += other.error_squares;
  truth_squares += other.truth_squares;
  all_close = all_close && other.all_close;
  classes_differ = classes_differ || other.classes_differ;
}

double Tolerances::nmse() const {
  if (classes_differ) return std::numeric_limits<double>::infinity();
  if (error_squares == 0) return 0;
  return truth_squares > 0 ? error_squares / truth_squares : std::numeric_limits<double>::infinity();
}

std::vector<double> element_values(DType dtype, const std::uint8_t* element) {
  if (!is_block(dtype)) return {element_as_double(dtype, element)};
  const reference::Format format = plain_dtype(dtype);
  std::vector<double> values;
  const auto append = [&](const std::uint8_t* bytes) {
    const reference::Block block = reference::read_block(format, bytes);
    for (int i = 0; i < block.elements; ++i) values.push_back(block.value(i));
  };
  if (!is_packed(dtype)) {
    append(element);
    return values;
  }
  const auto rows = reference::unpack_x16(format, element, kPackedRows, dtype_numbers(dtype));
  for (std::int64_t row = 0; row < kPackedRows; ++row) append(rows.data() + row * reference::block_bytes(format));
  return values;
}

}  // namespace assay
