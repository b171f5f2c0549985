#include "reference/arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "reference/blocks.h"
#include "reference/encode.h"

namespace assay::reference {
namespace {

template <int kNumber>
bool to_number(std::span<double> row) {
  for (double& x : row) x = kNumbers[kNumber].round(x);
  return true;
}

std::vector<float> floats(std::span<const double> row) {
  return {row.begin(), row.end()};
}

// To blocks as the quantisers make them; a last block that is not whole is filled up with zeros.
template <Format kFormat>
bool to_blocks(std::span<double> row) {
  std::vector<float> x = floats(row);
  const std::int64_t elements = dtype_numbers(kFormat);
  x.resize(static_cast<std::size_t>(ceil_div(std::ssize(x), elements) * elements));
  if (encode_status(kFormat, x.data(), std::ssize(x)) != ASSAY_OK) return false;
  const std::vector<std::uint8_t> blocks = encode(kFormat, Rounding::nearest_even, x.data(), std::ssize(x));
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    row[i] = read_block(kFormat, blocks.data() + at / elements * block_bytes(kFormat)).value(static_cast<int>(at % elements));
  }
  return true;
}

// One scale for all, fl(amax / 127), and codes as quantize_q8_0's: nearest even of fl(x fl(127 / amax)).
bool to_i8_row(std::span<double> row) {
  float most = 0;
  for (const double x : row) {
    if (!std::isfinite(x)) return false;
    most = std::max(most, static_cast<float>(std::abs(x)));
  }
  const float scale = most / 127;
  const float inverse = most == 0 ? 0 : 127 / most;
  if (!std::isfinite(inverse)) return false;
  for (double& x : row) x = static_cast<double>(scale) * static_cast<double>(std::nearbyint(static_cast<float>(x) * inverse));
  return true;
}

constexpr Operand kOperands[] = {{"f32", to_number<1>},
                                 {"f16", to_number<2>},
                                 {"bf16", to_number<3>},
                                 {"q8_0", to_blocks<Format::q8_0>},
                                 {"q8_k", to_blocks<Format::q8_k>},
                                 {"i8_row", to_i8_row}};

constexpr int kBias = 1023, kStoredBits = 52;  // of fp64

// Of zero and the denormals -1023.
int exponent_of(double x) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> kStoredBits & 0x7ff) - kBias;
}

std::int64_t log2_up(std::int64_t n) {
  std::int64_t levels = 0;
  while ((std::int64_t{1} << levels) < n) ++levels;
  return levels;
}

// The bound after one more rounding.
double rounded_bound(const Number& format, double value, double bound) {
  return bound + format.u() * (std::abs(value) + bound) + format.eta();
}

}  // namespace

double Number::round(double x) const {
  if (!std::isfinite(x) || digits == kNumbers[0].digits) return x;
  const double infinity = std::copysign(std::numeric_limits<double>::infinity(), x);
  const int exponent = exponent_of(x);
  if (exponent > most) return infinity;
  // A number whose last place is this format's: what is added to it is rounded there, to nearest even, and it is taken off exactly.
  const int step = std::max(exponent, least) - digits + 1;
  const auto power = static_cast<std::uint64_t>(step + kStoredBits + kBias) << kStoredBits;
  const double shift = std::copysign(1.5 * std::bit_cast<double>(power), x);
  const double rounded = std::copysign(x + shift - shift, x);
  return exponent_of(rounded) > most ? infinity : rounded;
}

const Number* find_number(std::string_view name) {
  const auto* const found = std::ranges::find(kNumbers, name, &Number::name);
  return found == std::end(kNumbers) ? nullptr : found;
}

std::span<const Operand> operands() {
  return kOperands;
}

const Operand* find_operand(std::string_view name) {
  const auto* const found = std::ranges::find(kOperands, name, &Operand::name);
  return found == std::end(kOperands) ? nullptr : found;
}

std::int64_t Order::additions(std::int64_t n, std::int64_t canonical) const {
  if (kind == Kind::canonical) return canonical;
  const std::int64_t any = std::max<std::int64_t>(n - 1, 0);
  const std::int64_t in_block = std::min(n, count);
  switch (kind) {
    case Kind::lanes:
      return std::min(any, std::max<std::int64_t>(n / count - 1, 0) + in_block - 1 + n % count);
    case Kind::blocks:
      return std::min(any, in_block - 1 + ceil_div(n, count) - 1);
    case Kind::tree:
      return std::min(any, in_block - 1 + log2_up(ceil_div(n, count)));
    default:
      return any;
  }
}

// An exponential's E ulp and a quotient's eta, of the spacing 2^-149 of denormals.
double Arithmetic::exp_underflow() const {
  return (2 * exp_ulps() + 3) * 0x1p-149 + (flush ? 2 * kF32.normal() : 0);
}

double written_bound(const Arithmetic& how, double value, double bound) {
  if (value == 0 && bound == 0) return 0;
  if (how.flush) bound += kF32.normal();
  return how.out == nullptr ? bound : rounded_bound(*how.out, value, bound);
}

bool written_may_overflow(const Arithmetic& how, double value, double bound) {
  return how.out != nullptr && std::isfinite(value) && std::abs(value) + bound >= how.out->largest();
}

double sum_bound(const Arithmetic& how, const Sum& sum) {
  if (sum.magnitude == 0) return 0;
  const Number& acc = how.sums();
  double growth = acc.growth(sum.roundings);
  double underflow = acc.eta() + (how.flush ? acc.normal() : 0);
  if (how.products != nullptr) {
    growth += how.products->u() * (1 + growth);
    underflow += how.products->eta() + (how.flush ? how.products->normal() : 0);
  }
  const double absolute = (1 + growth) * (sum.steps * underflow + (how.flush ? sum.lost : 0));
  const bool wide = acc.digits > kF32.digits;  // then the truth's own sum, in fp64, may be as far off
  const double bound = (wide ? 2 : 1) * growth * sum.magnitude + absolute;
  return written_bound(how, sum.value, wide ? rounded_bound(kF32, sum.value, bound) : bound);
}

bool sum_may_overflow(const Arithmetic& how, const Sum& sum) {
  double largest = how.sums().largest();
  if (how.products != nullptr) largest = std::min(largest, how.products->largest());
  if (sum.magnitude * (1 + how.sums().growth(sum.roundings)) >= largest) return true;
  return written_may_overflow(how, sum.value, sum_bound(how, sum));
}

}  // namespace assay::reference
