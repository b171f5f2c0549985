#include "reference/power.h"

#include <cmath>

namespace assay::reference {
namespace {

// A number as the unevaluated sum of two doubles, |low| <= ulp(high)/2: about 106 bits (Dekker, 1971).
struct Twofold {
  double high;
  double low;
};

// Exact a + b, |a| >= |b|.
Twofold fast_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// Exact a + b (Knuth).
Twofold two_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

Twofold add(Twofold a, Twofold b) {
  const Twofold high = two_sum(a.high, b.high);
  const Twofold low = two_sum(a.low, b.low);
  const Twofold partial = fast_two_sum(high.high, high.low + low.high);
  return fast_two_sum(partial.high, partial.low + low.low);
}

Twofold multiply(Twofold a, Twofold b) {
  const double product = a.high * b.high;
  const double error = std::fma(a.high, b.high, -product);
  return fast_two_sum(product, error + (a.high * b.low + a.low * b.high));
}

// x / k for a small integer: the quotient and its remainder's quotient.
Twofold divide(Twofold x, double k) {
  const double quotient = x.high / k;
  const double remainder = std::fma(-quotient, k, x.high) + x.low;
  return fast_two_sum(quotient, remainder / k);
}

// e^x = (e^(x / 2^10))^(2^10). |x| < 64 leaves at most 2^-4 for the series, whose term 24 is below 2^-170.
Twofold exponential(Twofold x) {
  constexpr int kHalvings = 10;
  const Twofold r{std::ldexp(x.high, -kHalvings), std::ldexp(x.low, -kHalvings)};
  Twofold sum{1, 0};
  for (int term = 23; term >= 1; --term) sum = add({1, 0}, divide(multiply(r, sum), term));  // Horner: 1 + r/k (...)
  for (int i = 0; i < kHalvings; ++i) sum = multiply(sum, sum);
  return sum;
}

// One Newton step on e^y = x from fp64's logarithm y: with d = x e^-y - 1, log x = y + d - d^2/2 + ..., d below 2^-46.
Twofold logarithm(double x) {
  const double y = std::log(x);
  const Twofold ratio = multiply({x, 0}, exponential({-y, 0}));
  const Twofold d = add(ratio, {-1, 0});
  return add({y, 0}, add(d, {-d.high * d.high / 2, 0}));
}

}  // namespace

double power(double base, double exponent) {
  const Twofold result = exponential(multiply({exponent, 0}, logarithm(base)));
  return result.high + result.low;
}

}  // namespace assay::reference
