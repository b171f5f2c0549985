#include "golden/generate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "golden/generate_blocks.h"
#include "golden/words.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 17> kNames{"gauss", "positive",   "uniform",  "mixed_zero", "wide",       "edges",
                                                  "near",  "ties",       "specials", "denormal",   "bits",       "zeros",
                                                  "index", "magnitudes", "sequence", "blocks",     "activations"};

double unit(std::uint32_t word) {
  return (word + 0.5) * 0x1p-32;
}

// The sum of twelve units, less 6: of integers, since it is exact.
double gauss(Words& words) {
  std::int64_t sum = 6 - (std::int64_t{6} << 32);  // the units' halves, and the mean
  for (const std::uint32_t word : words.next_twelve()) sum += word;
  return static_cast<double>(sum) * 0x1p-32;
}

double wide(std::uint32_t word, const Distribution& d) {
  const auto steps = static_cast<std::int64_t>((word >> 23) & 255);
  const std::int64_t exponent = d.low + (steps * (d.high - d.low + 1)) / 256;
  const double magnitude = std::ldexp(1 + (word & 0x7fffff) * 0x1p-23, static_cast<int>(exponent));
  return (word >> 31) != 0 ? -magnitude : magnitude;
}

double uniform(std::uint32_t word, const Distribution& d) {
  return d.scale * (2 * unit(word) - 1);
}

// Mantissas whose reciprocals, squares and sums lie beside a tie.
double edges(std::uint32_t word, const Distribution& d) {
  constexpr std::array<std::uint32_t, 8> kMantissas{0, 1, 2, 0x3fffff, 0x400000, 0x400001, 0x7ffffe, 0x7fffff};
  return wide((word & 0xff800000U) | kMantissas[word & 7], d);
}

using RealValue = double (*)(const Distribution&, Words&);

// The formula of one element of a real distribution; null if the name is not one.
RealValue real_formula(std::string_view name) {
  if (name == "gauss") return [](const Distribution& d, Words& w) { return d.scale * gauss(w); };
  if (name == "positive") return [](const Distribution& d, Words& w) { return std::fabs(d.scale * gauss(w)); };
  if (name == "uniform") return [](const Distribution& d, Words& w) { return uniform(w.next(), d); };
  if (name == "wide") return [](const Distribution& d, Words& w) { return wide(w.next(), d); };
  if (name == "edges") return [](const Distribution& d, Words& w) { return edges(w.next(), d); };
  if (name == "near") return [](const Distribution& d, Words& w) { return 1 + 0x1p-10 * uniform(w.next(), d); };
  if (name == "zeros") return [](const Distribution&, Words&) { return 0.0; };
  if (name == "mixed_zero") {
    return [](const Distribution& d, Words& w) {
      const std::uint32_t word = w.next();
      return (word & 1) != 0 ? 0.0 : uniform(word, d);
    };
  }
  return nullptr;
}

// f32 to f16 and bf16, nearest even, for generated inputs; no NaN comes here.
std::uint16_t narrow_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000;
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x477ff000) return static_cast<std::uint16_t>(sign | 0x7c00);  // from 65520 on: infinity
  if (magnitude < 0x38800000) {                                                   // below 2^-14: units of 2^-24
    return static_cast<std::uint16_t>(sign + static_cast<std::uint32_t>(std::nearbyint(std::fabs(value) * 0x1p24F)));
  }
  const std::uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return static_cast<std::uint16_t>(sign + ((rounded - (112U << 23)) >> 13));
}

std::uint16_t narrow_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

template <class T>
void put(void* dst, std::int64_t i, T value) {
  std::memcpy(static_cast<char*>(dst) + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
}

void put_real(DType dtype, void* dst, std::int64_t i, double value) {
  const auto single = static_cast<float>(value);
  if (dtype == DType::f64) return put(dst, i, value);
  if (dtype == DType::f32) return put(dst, i, single);
  put(dst, i, dtype == DType::f16 ? narrow_f16(single) : narrow_bf16(single));
}

void put_bits(DType dtype, void* dst, std::int64_t i, std::uint32_t word, bool denormal) {
  if (dtype == DType::f32) return put(dst, i, denormal ? word & 0x807fffffU : word);
  const std::uint32_t mask = !denormal ? 0xffffU : (dtype == DType::f16 ? 0x83ffU : 0x807fU);
  put(dst, i, static_cast<std::uint16_t>(word & mask));
}

// As bits without the sign; `mantissa` bits of it are stored below `exponent` ones.
std::uint32_t special_bits(SpecialNumber which, unsigned mantissa, unsigned exponent) {
  const std::uint32_t unit = 1U << mantissa;
  const std::uint32_t infinity = ((1U << exponent) - 1) << mantissa;
  const std::uint32_t one = ((1U << (exponent - 1)) - 1) << mantissa;
  const std::array<std::uint32_t, kSpecialNumbers> all{
      0, 1, unit - 1, unit, infinity - 1, infinity, infinity + unit / 2 + 1, infinity + 1, one};
  return all[static_cast<std::size_t>(which)];
}

void put_seldom_special(DType dtype, void* dst, std::int64_t i, const Distribution& d, std::uint32_t word) {
  if ((word & 255) != 0) return put_real(dtype, dst, i, uniform(word, d));
  put_special(dtype, dst, i, static_cast<SpecialNumber>((word >> 8) % kSpecialNumbers), word >> 31 != 0);
}

// Multiples of d / 2 in groups of 32, d between two f16, that a block of a quantiser has as its scale: its codes tie too.
void generate_ties(Words& words, DType dtype, std::int64_t count, void* dst) {
  constexpr std::array<std::int64_t, 5> kMostCodes{8, 16, 127, 15, 31};  // the last two: of blocks with a minimum
  for (std::int64_t first = 0; first < count; first += 32) {
    const std::uint32_t head = words.next();
    const double half = std::ldexp(1024.5 + (head & 1023), static_cast<int>(head >> 10 & 7) - 18);
    const std::uint32_t which = (head >> 13) % 5;
    const std::int64_t most = kMostCodes[which];
    const std::int64_t least = which < 3 ? -most : 0;
    for (std::int64_t i = 0; i < 32; ++i) {
      const auto range = static_cast<std::uint64_t>(2 * (most - least) + 1);
      std::int64_t halves = 2 * least + static_cast<std::int64_t>(words.next() * range >> 32);
      if (i == 0) halves = which < 3 && head >> 31 != 0 ? -2 * most : 2 * most;
      if (i == 1 && which >= 3) halves = 0;
      if (first + i < count) put_real(dtype, dst, first + i, half * static_cast<double>(halves));
    }
  }
}

void put_integer(DType dtype, void* dst, std::int64_t i, std::int64_t value) {
  if (dtype == DType::i64) return put(dst, i, value);
  if (dtype == DType::i32) return put(dst, i, static_cast<std::int32_t>(value));
  put(dst, i, static_cast<std::uint8_t>(value));
}

bool is_integer(DType dtype) {
  return dtype == DType::i32 || dtype == DType::i64 || dtype == DType::u8;
}

void refuse(const Distribution& d, DType dtype) {
  throw std::invalid_argument("distribution '" + d.name + "' makes no " + std::string(dtype_name(dtype)));
}

// What a file may say without any sum below leaving its type.
void check_range(const Distribution& d, std::int64_t count) {
  constexpr std::int64_t kMostExponent = 16384;
  std::int64_t range = 0;
  const bool ordered = !__builtin_sub_overflow(d.high, d.low, &range) && range >= 0;
  const bool fits = d.name == "sequence"                          ? !__builtin_add_overflow(d.low, count, &range)
                    : d.name == "index" || d.name == "magnitudes" ? ordered && range <= INT64_C(0x100000000)
                    : d.name == "wide"                            ? ordered && d.low >= -kMostExponent && d.high <= kMostExponent
                                                                  : true;
  if (fits) return;
  throw std::invalid_argument("distribution '" + d.name + "' from " + std::to_string(d.low) + " to " + std::to_string(d.high) +
                              "; expected low <= high, exponents of at most 16384, a range of at most 2^32");
}

void generate_integers(const Distribution& d, Words& words, DType dtype, std::int64_t count, void* dst) {
  if (d.name == "sequence") {
    for (std::int64_t i = 0; i < count; ++i) put_integer(dtype, dst, i, d.low + i);
    return;
  }
  if (d.name != "index" && d.name != "magnitudes" && d.name != "zeros") refuse(d, dtype);
  const auto range = static_cast<std::uint64_t>(d.name == "zeros" ? 0 : d.high - d.low);
  const auto widths = d.name == "magnitudes" ? std::max(1U, static_cast<unsigned>(std::bit_width(range))) : 1U;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t word = words.next();
    put_integer(dtype, dst, i, d.low + static_cast<std::int64_t>(word * range >> 32 >> (word & 31) % widths));
  }
}

}  // namespace

std::span<const std::string_view> distribution_names() noexcept {
  return kNames;
}

void generate(const Distribution& d, std::uint64_t seed, std::uint32_t stream, DType dtype, std::int64_t count, void* dst) {
  bool known = false;
  for (const std::string_view name : kNames) known = known || name == d.name;
  if (!known) throw std::invalid_argument("unknown distribution '" + d.name + "'");
  check_range(d, count);
  if (is_block(dtype)) {
    if (!generate_blocks(d.name, seed, stream, dtype, count, static_cast<std::uint8_t*>(dst))) refuse(d, dtype);
    return;
  }
  Words words(seed, stream);
  if (is_integer(dtype)) return generate_integers(d, words, dtype, count, dst);
  const bool denormal = d.name == "denormal";
  if (denormal || d.name == "bits") {
    if (dtype == DType::f64) refuse(d, dtype);
    for (std::int64_t i = 0; i < count; ++i) put_bits(dtype, dst, i, words.next(), denormal);
    return;
  }
  if (d.name == "ties") return generate_ties(words, dtype, count, dst);
  if (d.name == "specials") {
    if (dtype == DType::f64) refuse(d, dtype);
    for (std::int64_t i = 0; i < count; ++i) put_seldom_special(dtype, dst, i, d, words.next());
    return;
  }
  const RealValue formula = real_formula(d.name);
  if (formula == nullptr) refuse(d, dtype);
  for (std::int64_t i = 0; i < count; ++i) put_real(dtype, dst, i, formula(d, words));
}

void put_special(DType dtype, void* dst, std::int64_t i, SpecialNumber special, bool negative) {
  const std::uint32_t sign = negative ? 1 : 0;
  if (dtype == DType::f32) return put(dst, i, sign << 31 | special_bits(special, 23, 8));
  const std::uint32_t bits = dtype == DType::f16 ? special_bits(special, 10, 5) : special_bits(special, 7, 8);
  put(dst, i, static_cast<std::uint16_t>(sign << 15 | bits));
}

}  // namespace assay
