#include "engine/convert/random_rows.h"

#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/convert/encode_rows.h"
#include "golden/philox.h"
#include "kernels/formats/blocks.h"
#include "kernels/op_tables.h"

namespace assay {
namespace {

// Fills dst with the row's words, the last one cut.
void random_bytes(const RandomMatrix& matrix, std::int64_t row, std::span<std::uint8_t> dst) {
  const std::array<std::uint32_t, 2> key{static_cast<std::uint32_t>(matrix.seed), static_cast<std::uint32_t>(matrix.seed >> 32)};
  std::uint32_t block = 0;
  for (std::size_t at = 0; at < dst.size(); at += sizeof(PhiloxBlock)) {
    const PhiloxBlock words = philox4x32_10({block++, static_cast<std::uint32_t>(row), matrix.stream, 0}, key);
    std::memcpy(&dst[at], words.data(), std::min(sizeof words, dst.size() - at));
  }
}

std::uint16_t half(double value) {
  const auto wide = static_cast<float>(value);
  std::uint16_t narrow = 0;
  const ConvertArgs args{&wide, &narrow, 1};
  select_kernel(kernel_tables::convert_f32_f16).run(&args);
  return narrow;
}

// Variance of `count` equidistant codes about their middle.
double variance(double count) {
  return (count * count - 1) / 12;
}

// Mean square of a scale drawn from least .. 2 least - 1.
double mean_square(double least) {
  const double middle = 1.5 * least - 0.5;
  return middle * middle + variance(least);
}

constexpr std::uint16_t kSign = 0x8000;  // of a half
constexpr double kLeastScale = 32;       // of q4_k and q5_k: 32 .. 63
constexpr int kLeastScaleQ6 = 16;        // of q6_k: 16 .. 31, so that d is seldom denormal

// q4_0, q5_0, q8_0: codes lie about -1/2, so a random sign of d centres them. It was random already.
template <class Block>
void set_scale(Block& block, std::uint16_t d) {
  block.d = static_cast<std::uint16_t>(d | (block.d & kSign));
}

// Scales of 32 + 5 random bits, each minimum equal to its scale; the packing of kernels/formats/blocks.h.
void set_scales(std::uint8_t (&bytes)[12]) {
  std::array<unsigned, 8> scales{};
  for (std::size_t j = 0; j < scales.size(); ++j) scales[j] = 32U | (bytes[j] & 31U);
  for (std::size_t j = 0; j < 4; ++j) {
    const unsigned upper = scales[j + 4];
    bytes[j] = bytes[j + 4] = static_cast<std::uint8_t>(scales[j] | (upper >> 4) << 6);
    bytes[j + 8] = static_cast<std::uint8_t>((upper & 15U) | (upper & 15U) << 4);
  }
}

template <class Block>
void centre(const RandomMatrix& matrix, double codes, std::span<std::uint8_t> dst) {
  const std::uint16_t d = half(matrix.sigma / std::sqrt(variance(codes) + 0.25));
  for (std::size_t at = 0; at < dst.size(); at += sizeof(Block)) set_scale(*reinterpret_cast<Block*>(&dst[at]), d);
}

// q4_1, q5_1: the minimum is the lowest code's, so that they lie about 0; a random sign of both keeps them so.
template <class Block>
void centre_minimum(const RandomMatrix& matrix, double codes, std::span<std::uint8_t> dst) {
  const double d = matrix.sigma / std::sqrt(variance(codes));
  const std::uint16_t scale = half(d);
  const std::uint16_t minimum = half(-d * (codes - 1) / 2);
  for (std::size_t at = 0; at < dst.size(); at += sizeof(Block)) {
    auto& block = *reinterpret_cast<Block*>(&dst[at]);
    const auto sign = static_cast<std::uint16_t>(block.d & kSign);
    block.d = scale ^ sign;
    block.m = minimum ^ sign;
  }
}

template <class Block>
void centre_affine(const RandomMatrix& matrix, double codes, std::span<std::uint8_t> dst) {
  const double d = matrix.sigma / std::sqrt(mean_square(kLeastScale) * variance(codes));
  const std::uint16_t scale = half(d);
  const std::uint16_t minimum = half(d * (codes - 1) / 2);
  for (std::size_t at = 0; at < dst.size(); at += sizeof(Block)) {
    auto& block = *reinterpret_cast<Block*>(&dst[at]);
    block.d = scale;
    block.dmin = minimum;
    set_scales(block.scales);
  }
}

void centre_q6_k(const RandomMatrix& matrix, std::span<std::uint8_t> dst) {
  const std::uint16_t d = half(matrix.sigma / std::sqrt(mean_square(kLeastScaleQ6) * (variance(64) + 0.25)));
  for (std::size_t at = 0; at < dst.size(); at += sizeof(BlockQ6_K)) {
    auto& block = *reinterpret_cast<BlockQ6_K*>(&dst[at]);
    block.d = d;
    for (std::int8_t& scale : block.scales) {
      const int size = kLeastScaleQ6 + (scale & (kLeastScaleQ6 - 1));
      scale = static_cast<std::int8_t>(scale < 0 ? -size : size);
    }
  }
}

void random_numbers(const RandomMatrix& matrix, std::int64_t row, std::span<std::uint8_t> dst) {
  const auto cols = static_cast<std::size_t>(matrix.cols);
  std::vector<std::uint32_t> words(cols);
  std::vector<float> numbers(cols);
  random_bytes(matrix, row, {reinterpret_cast<std::uint8_t*>(words.data()), cols * sizeof(std::uint32_t)});
  const double reach = matrix.sigma * std::sqrt(3.0);
  for (std::size_t i = 0; i < cols; ++i) {
    numbers[i] = static_cast<float>(matrix.mean + reach * ((words[i] + 0.5) * 0x1p-31 - 1));
  }
  Team alone(1);  // rows are made at the same time as it is
  encode_rows(DType::f32, matrix.dtype, 1, matrix.cols, {reinterpret_cast<const std::uint8_t*>(numbers.data()), 4 * cols}, dst,
              alone);
}

}  // namespace

void random_row(const RandomMatrix& matrix, std::int64_t row, std::span<std::uint8_t> dst) {
  if (!is_block(matrix.dtype)) {
    random_numbers(matrix, row, dst);
    return;
  }
  random_bytes(matrix, row, dst);
  switch (matrix.dtype) {
    case DType::q4_0:
      return centre<BlockQ4_0>(matrix, 16, dst);
    case DType::q4_1:
      return centre_minimum<BlockQ4_1>(matrix, 16, dst);
    case DType::q5_0:
      return centre<BlockQ5_0>(matrix, 32, dst);
    case DType::q5_1:
      return centre_minimum<BlockQ5_1>(matrix, 32, dst);
    case DType::q8_0:
      return centre<BlockQ8_0>(matrix, 256, dst);
    case DType::q4_k:
      return centre_affine<BlockQ4_K>(matrix, 16, dst);
    case DType::q5_k:
      return centre_affine<BlockQ5_K>(matrix, 32, dst);
    case DType::q6_k:
      return centre_q6_k(matrix, dst);
    default:
      throw std::logic_error("random_row: " + std::string(dtype_name(matrix.dtype)));
  }
}

}  // namespace assay
