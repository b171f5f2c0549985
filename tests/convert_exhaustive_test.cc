// The four conversions against the definition of their formats: all 2^16 f16 and bf16 values, and f32 around every
// rounding edge of both, for each sign and exponent. The definition is by value: a narrow float is the nearest entry of
// the table of all of them; no bits of the input are shifted here.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "kernels/op_tables.h"

namespace assay::convert_exhaustive_test {
namespace {

// A binary interchange format below f32.
struct Format {
  int exponent_bits;
  int fraction_bits;

  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] std::uint32_t infinity() const { return ((1u << exponent_bits) - 1u) << fraction_bits; }
  [[nodiscard]] std::uint32_t fraction_size() const { return 1u << fraction_bits; }

  // The value of magnitude code c; the code of infinity stands for the first value out of range.
  [[nodiscard]] double value(std::uint32_t c) const {
    const std::uint32_t exponent = c / fraction_size();
    const std::uint32_t fraction = c % fraction_size();
    if (exponent == 0) return std::ldexp(fraction, 1 - bias() - fraction_bits);
    return std::ldexp(fraction + fraction_size(), static_cast<int>(exponent) - bias() - fraction_bits);
  }
};

constexpr Format kF16{5, 10};
constexpr Format kBf16{8, 7};

constexpr std::uint32_t kF32Fraction = 1u << 23;

class Narrow {
 public:
  explicit Narrow(Format format) : format_(format) {
    for (std::uint32_t c = 0; c <= format.infinity(); ++c) values_.push_back(format.value(c));
  }

  // The code nearest to x; of two equally near the even one. A NaN keeps its sign and the fraction's top bits, quiet.
  [[nodiscard]] std::uint16_t operator()(float x) const {
    const std::uint32_t sign = std::signbit(x) ? 0x8000u : 0u;
    if (std::isnan(x)) {
      const std::uint32_t payload = std::bit_cast<std::uint32_t>(x) % kF32Fraction;
      const std::uint32_t top = payload / (kF32Fraction / format_.fraction_size());
      return static_cast<std::uint16_t>(sign | format_.infinity() | top | format_.fraction_size() / 2);
    }
    const double magnitude = std::fabs(static_cast<double>(x));
    if (magnitude >= values_.back()) return static_cast<std::uint16_t>(sign | format_.infinity());
    const auto above = std::upper_bound(values_.begin(), values_.end(), magnitude);
    const auto code = static_cast<std::uint32_t>(above - values_.begin() - 1);
    const double middle = (values_[code] + values_[code + 1]) / 2;  // exact in f64
    const bool up = magnitude > middle || (magnitude == middle && code % 2 == 1);
    return static_cast<std::uint16_t>(sign | (up ? code + 1 : code));
  }

 private:
  Format format_;
  std::vector<double> values_;
};

// The f32 bits of code h. `quiet` says whether a NaN's quiet bit is set, or left as it is.
std::uint32_t widen(Format format, std::uint16_t h, bool quiet) {
  const std::uint32_t sign = h >= 0x8000u ? 0x80000000u : 0u;
  const std::uint32_t magnitude = h % 0x8000u;
  if (magnitude > format.infinity()) {
    const std::uint32_t payload = (magnitude - format.infinity()) * (kF32Fraction / format.fraction_size());
    return sign | 0x7f800000u | payload | (quiet ? kF32Fraction / 2 : 0u);
  }
  if (magnitude == format.infinity()) return sign | 0x7f800000u;
  return sign | std::bit_cast<std::uint32_t>(static_cast<float>(format.value(magnitude)));
}

std::vector<std::uint16_t> every_16_bits() {
  std::vector<std::uint16_t> codes(65536);
  for (std::uint32_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint16_t>(i);
  return codes;
}

// For each sign and exponent: every multiple of 2^12 (half a unit of f16's last place; bf16's edges and those of f16's
// denormals are among them) with both neighbours, all ones, and a stride over the fractions.
std::vector<float> f32_edges() {
  std::vector<std::uint32_t> fractions;
  for (std::uint32_t edge = 0; edge <= kF32Fraction; edge += 1u << 12) {
    for (const std::uint32_t f : {edge - 1, edge, edge + 1}) {
      if (f < kF32Fraction) fractions.push_back(f);
    }
  }
  for (std::uint32_t f = 0; f < kF32Fraction; f += 997) fractions.push_back(f);
  std::vector<float> edges;
  edges.reserve(512 * fractions.size());
  for (std::uint32_t head = 0; head < 512; ++head) {
    for (const std::uint32_t f : fractions) edges.push_back(std::bit_cast<float>(head * kF32Fraction + f));
  }
  return edges;
}

// Runs every supported variant of the op and compares all of its output.
template <class From, class To>
void check_variants(const OpTable& op, std::span<const From> src, std::span<const To> expected) {
  std::size_t variants = 0;
  for (const AnyKernel& kernel : op.kernels) {
    if (!isa_supported(kernel.isa)) {
      std::printf("skipped: %s (this CPU lacks %s)\n", kernel.name, std::string(isa_name(kernel.isa)).c_str());
      continue;
    }
    std::vector<To> dst(src.size());
    const ConvertArgs args{.src = src.data(), .dst = dst.data(), .n = static_cast<std::int64_t>(src.size())};
    ASSERT_EQ(kernel.run(&args), ASSAY_OK) << kernel.name;
    for (std::size_t i = 0; i < src.size(); ++i) {
      if constexpr (sizeof(To) == 2) {
        ASSERT_EQ(dst[i], expected[i]) << kernel.name << " of 0x" << std::hex << std::bit_cast<std::uint32_t>(src[i]);
      } else {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(dst[i]), std::bit_cast<std::uint32_t>(expected[i]))
            << kernel.name << " of 0x" << std::hex << src[i];
      }
    }
    ++variants;
  }
  std::printf("%s: %zu variants, %zu values each\n", op.op, variants, src.size());
  EXPECT_GT(variants, 0u);
  EXPECT_GT(src.size(), 0u);
}

void check_widening(const OpTable& op, Format format, bool quiet) {
  const std::vector<std::uint16_t> src = every_16_bits();
  std::vector<float> expected(src.size());
  std::transform(src.begin(), src.end(), expected.begin(),
                 [=](std::uint16_t h) { return std::bit_cast<float>(widen(format, h, quiet)); });
  check_variants<std::uint16_t, float>(op, src, expected);
}

void check_narrowing(const OpTable& op, Format format) {
  const std::vector<float> src = f32_edges();
  const Narrow narrow(format);
  std::vector<std::uint16_t> expected(src.size());
  std::transform(src.begin(), src.end(), expected.begin(), narrow);
  check_variants<float, std::uint16_t>(op, src, expected);
}

TEST(ConvertExhaustive, F16ToF32OnAllHalves) {
  check_widening(kernel_tables::convert_f16_f32, kF16, true);
}
TEST(ConvertExhaustive, Bf16ToF32OnAllValues) {
  check_widening(kernel_tables::convert_bf16_f32, kBf16, false);
}
TEST(ConvertExhaustive, F32ToF16OnEveryEdge) {
  check_narrowing(kernel_tables::convert_f32_f16, kF16);
}
TEST(ConvertExhaustive, F32ToBf16OnEveryEdge) {
  check_narrowing(kernel_tables::convert_f32_bf16, kBf16);
}

}  // namespace
}  // namespace assay::convert_exhaustive_test
