#include "harness/verdict/row_patterns.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/formats/blocks.h"

namespace assay {
namespace {

constexpr std::int64_t kRun = 64;  // elements

// Every row begins as the first does, up to half of it or 16; of blocks of which every bit is free up to the middle of a block. One row of such
// blocks: every block begins so.
void begin_alike(const TensorSpec& spec, Array& array, std::size_t /*input*/) {
  const std::size_t size = dtype_size(array.dtype);
  const bool block = is_block(array.dtype) && !spec.data;
  const bool one_row = array.elements() == row_length(array);
  const auto length = static_cast<std::size_t>(block && one_row ? 1 : row_length(array));
  if (length == 0 || array.dtype == DType::i32) return;
  const std::size_t elements = std::max(length / 2, std::min<std::size_t>(length - 1, 16));
  const std::size_t same = elements * size + (block ? size / 2 : 0);
  for (std::size_t at = length * size; at + same <= array.bytes.size(); at += length * size)
    std::memcpy(&array.bytes[at], array.bytes.data(), same);
}

// Rows begin with 16, 32, 64 numbers, at most half of them, that change nothing, as a padded row's do.
void begin_neutral(const TensorSpec& /*spec*/, Array& array, std::size_t input) {
  const std::int64_t length = row_length(array);
  if (!is_float(array.dtype)) return;
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    if (i % length < std::min(length / 2, std::int64_t{16} << (i / length % 3))) put_neutral(array, i, input);
  }
}

// Every second run of the first input's rows is masked, as scores are.
void mask_runs(const TensorSpec& /*spec*/, Array& array, std::size_t input) {
  const std::int64_t length = row_length(array);
  if (!is_float(array.dtype) || input > 0) return;
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    if (i % length / kRun % 2 == 1) put(array, i, SpecialNumber::infinity, true);
  }
}

// Every row is one number over and over; indices are all the same.
void repeat_first(const TensorSpec& /*spec*/, Array& array, std::size_t /*input*/) {
  if (array.dtype != DType::i32 && !is_float(array.dtype)) return;
  const std::size_t size = dtype_size(array.dtype);
  const std::size_t row = static_cast<std::size_t>(row_length(array)) * size;
  for (std::size_t at = 0; at < array.bytes.size(); at += size) std::memcpy(&array.bytes[at], &array.bytes[at / row * row], size);
}

// Zeros but for the last number of each row, and of each of its super-blocks.
void zero_but_last(const TensorSpec& spec, Array& array, std::size_t /*input*/) {
  const std::int64_t length = row_length(array);
  if (!is_float(array.dtype) || spec.data) return;
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    const std::int64_t next = i % length + 1;
    if (next != length && next % ASSAY_QK_K != 0) put(array, i, SpecialNumber::zero);
  }
}

// Every second super-block is zeros.
void zero_seconds(const TensorSpec& spec, Array& array, std::size_t /*input*/) {
  const std::int64_t length = row_length(array);
  if (!is_float(array.dtype) || spec.data) return;
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    if (i % length / ASSAY_QK_K % 2 == 1) put(array, i, SpecialNumber::zero);
  }
}

// Of several rows the last is zeros, as padding is.
void zero_last_row(const TensorSpec& spec, Array& array, std::size_t /*input*/) {
  const std::int64_t length = row_length(array);
  if (!is_float(array.dtype) || spec.data || array.elements() == length) return;
  for (std::int64_t i = array.elements() - length; i < array.elements(); ++i) put(array, i, SpecialNumber::zero);
}

// The largest number, and behind it an infinity.
void infinity_behind_largest(const TensorSpec& spec, Array& array, std::size_t input) {
  const std::int64_t length = row_length(array);
  if (!is_float(array.dtype) || spec.data || input > 0) return;
  for (std::int64_t row = 0; row < array.elements(); row += length) {
    put(array, row + length / 3, SpecialNumber::largest);
    put(array, row + length - 1 - length / 4, SpecialNumber::infinity);
  }
}

// Infinities of both signs, 16 and 64 apart, as the lanes and registers are that a kernel sums in.
void infinities_of_both_signs(const TensorSpec& spec, Array& array, std::size_t input) {
  const std::int64_t length = row_length(array);
  if (!is_float(array.dtype) || spec.data || input > 0) return;
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    const std::int64_t at = i % length;
    if (at == 3 || at == 3 + 16 || at == 3 + 64) put(array, i, SpecialNumber::infinity, at != 3);
  }
}

// Numbers of the exponent field 0 or 1.
void set_exponent(Array& array, std::uint32_t field) {
  set_floats(array, [field](std::int64_t /*i*/, float x) {
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) & 0x807fffffU) | field << 23);
  });
}

// Normal numbers with the least exponent that such have: sums of two are often denormal.
void barely_normal(const TensorSpec& spec, Array& array, std::size_t /*input*/) {
  if (array.dtype == DType::f32 && !spec.data) set_exponent(array, 1);
}

// Half the smallest f16 again and again, and once in a super-block the float above it: what rounds to nothing beside what barely does not.
void barely_halves(const TensorSpec& spec, Array& array, std::size_t /*input*/) {
  constexpr float kTie = 0x1p-25f;
  constexpr float kAbove = kTie + 0x1p-48f;
  const std::int64_t length = row_length(array);
  if (array.dtype != DType::f32 || spec.data) return;
  set_floats(array, [length](std::int64_t i, float /*x*/) { return i % length % ASSAY_QK_K == 0 ? kAbove : kTie; });
}

// One input is denormal, the others are not: all that such a row comes to is lost where denormals are flushed.
template <std::size_t kInput>
void denormal_alone(const TensorSpec& spec, Array& array, std::size_t input) {
  if (input == kInput && array.dtype == DType::f32 && !spec.data) set_exponent(array, 0);
}

// e^x is a number, and a sum of two of them is none.
void largest_exponents(const TensorSpec& spec, Array& array, std::size_t input) {
  constexpr float kMostExponent = 88;
  if (array.dtype != DType::f32 || spec.data || input > 0) return;
  set_floats(array, [](std::int64_t /*i*/, float x) { return kMostExponent - 0.5f * (x - std::floor(x)); });
}

// All other inputs change nothing, as at position 0; but of an infinity times 0, or of a sum with -0, something is left.
void all_neutral(const TensorSpec& /*spec*/, Array& array, std::size_t input) {
  const std::int64_t length = row_length(array);
  if (!is_float(array.dtype)) return;
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    if (input > 0) put_neutral(array, i, input);
    if (input == 0 && i % length % 16 == 3) put(array, i, SpecialNumber::infinity);
    if (input == 0 && i % length % 16 == 5) put(array, i, SpecialNumber::zero, true);
  }
}

constexpr std::array<RowPattern, 15> kPatterns{{{"rows that begin alike", begin_alike, kRun},
                                                {"rows that begin with 0 or 1", begin_neutral, kRun},
                                                {"runs of -inf", mask_runs, 3 * kRun + 1},
                                                {"rows of one number", repeat_first, kRun},
                                                {"infinity behind the largest number", infinity_behind_largest, kRun},
                                                {"infinities of both signs", infinities_of_both_signs, 3 * kRun + 1},
                                                {"zeros but the last", zero_but_last, kRun},
                                                {"a last row of zeros", zero_last_row, kRun},
                                                {"every second super-block zeros", zero_seconds, 3 * ASSAY_QK_K},
                                                {"barely normal numbers", barely_normal, kRun},
                                                {"numbers that f16 barely has", barely_halves, kRun},
                                                {"a first input of denormals", denormal_alone<0>, 17 * kRun},
                                                {"a second input of denormals", denormal_alone<1>, 17 * kRun},
                                                {"exponents of the largest numbers", largest_exponents, kRun},
                                                {"other inputs of 0 and 1", all_neutral, kRun}}};

}  // namespace

std::span<const RowPattern> row_patterns() {
  return kPatterns;
}

}  // namespace assay
