// Emulation of declared arithmetic, for tests that attack its bounds (docs/numerics.md): it rounds where the declaration says.
// ASSAY_DECLARED_OUTPUTS: outputs for each rule; shares are then printed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "reference/arithmetic.h"
#include "reference/expected.h"

namespace assay::reference {

using Engine = std::mt19937_64;
using Kind = Order::Kind;

inline std::int64_t outputs_of_a_rule() {
  const char* const text = std::getenv("ASSAY_DECLARED_OUTPUTS");
  return text == nullptr ? 40000 : std::strtoll(text, nullptr, 10);
}

// An operand as an operation meets it.
inline double read(const Arithmetic& how, double x) {
  return how.flush && std::abs(x) < how.least_read() ? 0 : x;
}

// Every operation once more in fp64, then rounded as the format rounds.
class Machine {
 public:
  Machine(const Arithmetic& how, Engine& engine) : how_(how), engine_(engine) {}

  double product(double a, double b) {
    a = read(a);
    b = read(b);
    if (how_.products != nullptr) return flushed(how_.products->round(a * b), *how_.products);
    return coin() ? a * b : rounded(a * b);  // an fma's, or rounded before it is added
  }
  double add(double a, double b) { return rounded(read(a) + read(b)); }
  double written(double y) {
    if (how_.sums().digits > kF32.digits) y = kF32.round(y);
    y = flushed(y, kF32);
    return how_.out == nullptr ? y : how_.out->round(y);
  }

  // The products of a row in the declared order; where that leaves a choice, one by chance.
  double sum(std::vector<double> terms) {
    const auto n = std::ssize(terms);
    if (n == 0) return 0;
    const std::int64_t count = how_.order.count;
    std::vector<double> parts;
    switch (how_.order.kind) {
      case Kind::free:
        return coin() ? chain(terms) : any(terms);
      case Kind::lanes: {
        const std::int64_t whole = n / count * count;
        for (std::int64_t lane = 0; lane < count && whole > 0; ++lane) {
          std::vector<double> one;
          for (std::int64_t i = lane; i < whole; i += count) one.push_back(terms[static_cast<std::size_t>(i)]);
          parts.push_back(chain(one));
        }
        parts.insert(parts.end(), terms.begin() + whole, terms.end());
        return coin() ? chain(parts) : any(parts);
      }
      case Kind::blocks:
      case Kind::tree:
        for (std::int64_t i = 0; i < n; i += count)
          parts.push_back(chain({terms.begin() + i, terms.begin() + std::min(n, i + count)}));
        return how_.order.kind == Kind::blocks ? chain(parts) : pairwise(parts);
      default:
        return blocked(terms);
    }
  }

 private:
  bool coin() { return engine_() % 2 == 0; }
  double read(double x) const { return reference::read(how_, x); }
  double flushed(double x, const Number& format) const { return how_.flush && std::abs(x) < format.normal() ? 0 : x; }
  double rounded(double x) const { return flushed(how_.sums().round(x), how_.sums()); }

  double chain(const std::vector<double>& terms) {
    double sum = 0;
    for (const double term : terms) sum = add(sum, term);
    return sum;
  }
  double any(std::vector<double> terms) {
    while (terms.size() > 1) {
      std::swap(terms[engine_() % terms.size()], terms.back());
      const double last = terms.back();
      terms.pop_back();
      double& other = terms[engine_() % terms.size()];
      other = add(other, last);
    }
    return rounded(terms[0]);
  }
  double pairwise(std::vector<double> terms) {
    while (terms.size() > 1) {
      std::vector<double> half;
      for (std::size_t i = 0; i + 1 < terms.size(); i += 2) half.push_back(add(terms[i], terms[i + 1]));
      if (terms.size() % 2 == 1) half.push_back(terms.back());
      terms = half;
    }
    return rounded(terms[0]);
  }
  // The op's own order: blocks of 64, the first block's sum as it is.
  double blocked(const std::vector<double>& terms) {
    double total = 0;
    for (std::size_t i = 0; i < terms.size(); i += 64) {
      const double block = chain({terms.begin() + static_cast<std::ptrdiff_t>(i),
                                  terms.begin() + static_cast<std::ptrdiff_t>(std::min(terms.size(), i + 64))});
      total = i == 0 ? block : add(total, block);
    }
    return total;
  }

  const Arithmetic& how_;
  Engine& engine_;
};

// One result in f32, flushed where that is declared.
inline float single(const Arithmetic& how, double x) {
  const double y = kF32.round(x);
  return static_cast<float>(how.flush && std::abs(y) < kF32.normal() ? 0 : y);
}

// A float within so many ulp of the truth, on a side by chance, as far off as there is one.
inline float rough(const Arithmetic& how, double truth, double ulps, Engine& engine) {
  // Its own rounding is half a unit of the result, which may be a binade above the truth.
  const double most = ulps * float_ulp(truth);
  const double reach = most - 0.5 * float_ulp(truth + most);
  return single(how, std::max(0.0, engine() % 2 == 0 ? truth + reach : truth - reach));
}
inline float exponential(const Arithmetic& how, float x, Engine& engine) {
  return rough(how, std::exp(static_cast<double>(x)), how.exp_ulps(), engine);
}
inline float written(const Arithmetic& how, double y) {
  const float result = single(how, y);
  return how.out == nullptr ? result : static_cast<float>(how.out->round(static_cast<double>(result)));
}

struct Share {
  double largest = 0;
  std::int64_t outputs = 0;

  void judge(const Expected& expected, std::size_t at, double got) {
    ++outputs;
    if ((!expected.bits_only.empty() && expected.bits_only[at] != 0) || !std::isfinite(expected.value[at])) return;
    const double error = std::abs(got - expected.value[at]);
    if (expected.bound[at] == 0) {
      EXPECT_EQ(error, 0) << at;
    } else {
      largest = std::max(largest, error / expected.bound[at]);
    }
  }
};

inline Arithmetic with(void (*set)(Arithmetic&)) {
  Arithmetic how;
  set(how);
  return how;
}

struct Rule {
  const char* name;
  Arithmetic how;
};

inline void expect_near(const char* op, const Rule& rule, const Share& share) {
  if (std::getenv("ASSAY_DECLARED_OUTPUTS") != nullptr)
    std::printf("%s %s: %.3f of %lld\n", op, rule.name, share.largest, static_cast<long long>(share.outputs));
  EXPECT_LE(share.largest, 1) << op << " " << rule.name;
  EXPECT_GE(share.largest, 0.05) << op << " " << rule.name;
}

}  // namespace assay::reference
