#include "harness/verdict/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "harness/verdict/element_text.h"
#include "reference/copied.h"
#include "reference/encode_k.h"

namespace assay {
namespace {

// A binary format: what overflows in it, and the size of its last place.
struct BinaryFormat {
  int mantissa;      // stored bits
  int max_exponent;  // of the largest finite number
  int min_exponent;  // of the smallest normal number

  // From here on a number rounds to infinity.
  double overflow() const { return std::ldexp(2 - std::ldexp(1, -mantissa - 1), max_exponent); }
  double ulp(double value) const {
    const int exponent = value == 0 ? min_exponent : std::clamp(std::ilogb(value), min_exponent, max_exponent);
    return std::ldexp(1, exponent - mantissa);
  }
};

BinaryFormat format_of(DType dtype) {
  if (dtype == DType::f16) return {10, 15, -14};
  if (dtype == DType::bf16) return {7, 127, -126};
  return {23, 127, -126};
}

// The output's class is the truth's, unless the truth is within its bound of the overflow threshold; so is its sign, where nothing but
// this zero can come out, and wherever the op keeps signs.
bool class_agrees(const BinaryFormat& format, double y, double truth, double bound, bool keeps_sign) {
  if (std::isnan(truth)) return std::isnan(y);
  if (std::isnan(y)) return false;
  const bool fixed_zero = y == 0 && truth == 0 && bound == 0;
  if ((keeps_sign || fixed_zero) && std::signbit(y) != std::signbit(truth)) return false;
  const double threshold = format.overflow();
  const double magnitude = std::fabs(truth);
  const bool straddles = std::isfinite(truth) && magnitude + bound >= threshold && magnitude - bound < threshold;
  if (std::isinf(y)) return (straddles || magnitude >= threshold) && std::signbit(y) == std::signbit(truth);
  return straddles || magnitude < threshold;
}

bool by_bits_alone(const reference::Expected& expected, std::size_t i) {
  return !expected.bits_only.empty() && expected.bits_only[i] != 0;
}

double margin_of(double error, double bound) {
  if (error == 0) return 0;
  return bound > 0 ? error / bound : std::numeric_limits<double>::infinity();
}

// One element against what is expected of it.
struct Held {
  double value;
  double truth;
  double bound;
  bool right_class;
  double margin;  // infinite where the class is another; 0 of what is not finite
};

Held held(const TensorSpec& spec, const Array& y, const reference::Expected& expected, std::size_t at, bool keeps_sign) {
  const std::uint8_t* const element = y.bytes.data() + at * dtype_size(spec.dtype);
  const double value = element_as_double(spec.dtype, element);
  const double truth = expected.value[at];
  const double bound = expected.bound[at];
  const auto nan = reference::copied_nan(truth);
  const bool other_nan = nan && spec.dtype == DType::f32 && std::memcmp(element, &*nan, sizeof *nan) != 0;
  if (other_nan || !class_agrees(format_of(spec.dtype), value, truth, bound, keeps_sign))
    return {value, truth, bound, false, std::numeric_limits<double>::infinity()};
  const bool finite = std::isfinite(value) && std::isfinite(truth);
  return {value, truth, bound, true, finite ? margin_of(std::fabs(value - truth), bound) : 0};
}

// One unit of bias while its elements come in: t = sum sign(truth) e / sum B.
struct BiasSum {
  double signed_error = 0;
  double bound = 0;
  bool moved = false;

  void add(double error, double truth, double b) {
    signed_error += truth < 0 ? -error : error;
    bound += b;
    moved = moved || error != 0;
  }
  void finish(std::vector<double>& units) {
    if (moved && bound > 0) units.push_back(signed_error / bound);
    *this = {};
  }
};

Miss miss_of(const TensorSpec& spec, const Array& y, std::int64_t i, double truth, double margin) {
  const std::uint8_t* element = y.bytes.data() + static_cast<std::size_t>(i) * dtype_size(spec.dtype);
  const double value = element_as_double(spec.dtype, element);
  Miss miss;
  miss.index = i;
  miss.got = describe_element(spec.dtype, element);
  miss.want = fmt::format("{:.17g}", truth);
  if (spec.dtype == DType::f32) {
    const auto rounded = std::bit_cast<std::uint32_t>(static_cast<float>(truth));
    const std::uint32_t bits = reference::copied_nan(truth).value_or(rounded);
    miss.want = fmt::format("0x{:08x} ({:.17g})", bits, truth);
  }
  miss.margin = margin;
  miss.ulp = std::fabs(value - truth) / format_of(spec.dtype).ulp(truth);
  return miss;
}

std::optional<Miss> wrongly_finite(const TensorSpec& spec, const Array& y, const reference::Expected& expected, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  const double value = element_as_double(spec.dtype, y.bytes.data() + at * dtype_size(spec.dtype));
  if (expected.bits_only[at] != reference::kNotFinite || !std::isfinite(value)) return std::nullopt;
  Miss miss = miss_of(spec, y, i, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity());
  miss.want = "NaN or an infinity";
  return miss;
}

}  // namespace

void Comparison::add(const Comparison& other) {
  compared += other.compared;
  bits_only += other.bits_only;
  if (other.worst && (!worst || other.margin > margin)) worst = other.worst;
  margin = std::max(margin, other.margin);
  if (!wrong_class) wrong_class = other.wrong_class;
  square_sum += other.square_sum;
  tolerances.add(other.tolerances);
  bias.insert(bias.end(), other.bias.begin(), other.bias.end());
}

Comparison compare_bounded(const TensorSpec& spec, const Array& y, const reference::Expected& expected, reference::BiasUnit unit,
                           bool keeps_sign) {
  Comparison result;
  const std::int64_t inner = spec.shape.empty() ? 1 : spec.shape.back();
  const std::int64_t unit_size = unit == reference::BiasUnit::row ? inner : 1;
  BiasSum bias;
  std::int64_t worst = -1;
  for (std::int64_t i = 0, count = y.elements(); i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (by_bits_alone(expected, at)) {
      ++result.bits_only;
      if (!result.wrong_class) result.wrong_class = wrongly_finite(spec, y, expected, i);
    } else {
      const auto [value, truth, bound, right_class, margin] = held(spec, y, expected, at, keeps_sign);
      ++result.compared;
      result.tolerances.add(value, truth);
      if (!right_class) {
        if (!result.wrong_class) result.wrong_class = miss_of(spec, y, i, truth, margin_of(value - truth, bound));
      } else if (std::isfinite(value) && std::isfinite(truth)) {
        if (margin > result.margin || worst < 0) worst = i;
        result.margin = std::max(result.margin, margin);
        if (bound > 0) result.square_sum += margin * margin;
        bias.add(value - truth, truth, bound);
      }
    }
    if (unit != reference::BiasUnit::none && (i + 1) % unit_size == 0) bias.finish(result.bias);
  }
  if (worst >= 0) result.worst = miss_of(spec, y, worst, expected.value[static_cast<std::size_t>(worst)], result.margin);
  return result;
}

double element_margin(const TensorSpec& spec, const Array& y, const reference::Expected& expected, std::int64_t index,
                      bool keeps_sign) {
  if (by_bits_alone(expected, static_cast<std::size_t>(index))) return 0;
  return held(spec, y, expected, static_cast<std::size_t>(index), keeps_sign).margin;
}

Comparison compare_encoded(const Array& y, const reference::Encoding& encoding, const Kept* golden) {
  const reference::EncodedError got = reference::encoded_error(encoding, y.bytes.data());
  const reference::EncodedError want =
      golden == nullptr ? encoding.fallback : reference::encoded_error(encoding, golden->values.bytes.data());
  const char* whose = golden == nullptr ? "an encoder's without a search" : "the golden's";
  Comparison result;
  result.compared = y.elements();
  result.margin = margin_of(got.weighted, reference::kMostEncodedError * want.weighted);
  if (std::isnan(result.margin)) result.margin = std::numeric_limits<double>::infinity();
  result.note =
      fmt::format("weighted squared error {:.6g}, {}: {:.6g}, at most {} times that; plain squared error {:.6g}, {:.6g}",
                  got.weighted, whose, want.weighted, reference::kMostEncodedError, got.plain, want.plain);
  for (std::int64_t i = 0; golden != nullptr && i < y.elements(); ++i) {
    const auto at = static_cast<std::size_t>(i) * dtype_size(y.dtype);
    result.tolerances.add(y.dtype, &y.bytes[at], &golden->values.bytes[at]);
  }
  return result;
}

Comparison compare_expected(const reference::Contract& contract, const TensorSpec& spec, const Array& y,
                            const reference::Expected& expected) {
  if (contract.exactness == reference::Exactness::bounded)
    return compare_bounded(spec, y, expected, contract.bias_unit, contract.keeps_sign);
  if (contract.exactness == reference::Exactness::encoded) return compare_encoded(y, expected.encoding, nullptr);
  return compare_computed(spec, y, expected, contract.arithmetic_nans);
}

std::string describe_miss(const TensorSpec& spec, const Miss& miss) {
  std::string text = fmt::format("{} = {}, expected {}", element_name(spec, miss.index), miss.got, miss.want);
  if (miss.ulp > 0) text += fmt::format("; margin {:.4g}, {:.4g} ulp", miss.margin, miss.ulp);
  return text;
}

std::optional<double> bias_z(const std::vector<double>& units) {
  constexpr std::size_t kFewest = 256;
  if (units.size() < kFewest) return std::nullopt;
  double sum = 0;
  double squares = 0;
  for (const double t : units) {
    sum += t;
    squares += t * t;
  }
  return sum / std::sqrt(squares);
}

}  // namespace assay
