// What a kernel says that it computes in, where that is not the op's own arithmetic (docs/numerics.md, "Declared arithmetic").
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "reference/bounds.h"

namespace assay::reference {

// A binary format that results are rounded to, to nearest even.
struct Number {
  std::string_view name;
  int digits;  // of the significand, the implicit one included
  int least;   // exponent of the smallest normal number
  int most;    // exponent of the largest binade

  double u() const { return std::ldexp(1.0, -digits); }           // relative error of one rounding
  double eta() const { return std::ldexp(1.0, least - digits); }  // absolute error of one among the denormals
  double normal() const { return std::ldexp(1.0, least); }        // what is smaller may be flushed
  double largest() const { return std::ldexp(2 - std::ldexp(1.0, 1 - digits), most); }
  // (1 + u)^k - 1: what k roundings in a row may change a number by, for any k.
  double growth(double k) const { return std::expm1(k * std::log1p(u())); }
  // The number of this format nearest to x.
  double round(double x) const;
};

inline constexpr Number kNumbers[] = {
    {"f64", 53, -1022, 1023}, {"f32", 24, -126, 127}, {"f16", 11, -14, 15}, {"bf16", 8, -126, 127}};
inline constexpr const Number& kF32 = kNumbers[1];
const Number* find_number(std::string_view name);

// What a row of operands is rounded to before anything is computed: each number to a format, or the row to codes and scales.
struct Operand {
  std::string_view name;
  bool (*round)(std::span<double> row);  // of floats; false: codes or their scale cannot hold it
};
std::span<const Operand> operands();
const Operand* find_operand(std::string_view name);

// In which order a sum is taken.
struct Order {
  enum class Kind : std::uint8_t {
    canonical,  // the op's own
    free,       // any
    lanes,      // `count` partial sums of every count-th term, joined and followed by a tail in any order
    blocks,     // `count` terms in a row, in any order, then the blocks' sums in any order
    tree,       // blocks of `count`, whose sums are added in pairs, and those in pairs
  };
  Kind kind = Kind::canonical;
  std::int64_t count = 1;

  // Additions that one of n terms can meet; `canonical`: in the op's own order.
  std::int64_t additions(std::int64_t n, std::int64_t canonical) const;
  bool operator==(const Order&) const = default;
};

// Pointers are to rows of the tables above. A null one, and a number that is 0: the op's own.
struct Arithmetic {
  const Operand* x = nullptr;  // activations; of attention q
  const Operand* w = nullptr;
  const Number* products = nullptr;
  const Number* acc = nullptr;
  bool integer_sums = false;  // acc=i32: codes by codes are summed exactly
  Order order{};
  double exp = 0;    // error of the exponential, in ulp of f32
  double rsqrt = 0;  // of the reciprocal root
  bool flush = false;
  const Number* out = nullptr;

  bool own() const { return *this == Arithmetic{}; }
  bool rounds_operands() const { return x != nullptr || w != nullptr; }
  const Number& sums() const { return acc == nullptr ? kF32 : *acc; }
  double exp_ulps() const { return exp > 0 ? exp : kExpUlps; }
  double exp_u() const { return 2 * exp_ulps() * kU; }
  double exp_underflow() const;  // absolute error of an exponential or quotient that underflows
  double rsqrt_u() const { return rsqrt > 0 ? 2 * rsqrt * kU : (1 + kU) * (1 + kU) - 1; }
  // Smaller operands may be read as zero.
  double least_read() const { return std::max(kF32.normal(), sums().normal()); }
  // Errors that may have a sign of their own: polynomials', and narrow sums' that stand still.
  bool leans() const { return exp > 0 || rsqrt > 0 || sums().digits < kF32.digits; }
  bool operator==(const Arithmetic&) const = default;
};

// A sum of rounded terms.
struct Sum {
  double value;      // its truth
  double magnitude;  // sum of the terms' magnitudes
  double roundings;  // that a term meets in the sum's format, its own among them
  double steps;      // roundings that may underflow, each weighed by what it is multiplied by later
  double lost = 0;   // magnitude of the terms with an operand that flushing may read as zero
};

// How far the sum, as it is written, may be from its truth.
double sum_bound(const Arithmetic& how, const Sum& sum);
// Whether it may overflow on the way, so that no bound holds.
bool sum_may_overflow(const Arithmetic& how, const Sum& sum);
// The bound of what is written, where that of the result in f32 is `bound`: flushed, and rounded to `out`.
double written_bound(const Arithmetic& how, double value, double bound);
// Whether what is written may overflow in `out`.
bool written_may_overflow(const Arithmetic& how, double value, double bound);

}  // namespace assay::reference
