// Formulas of another kind than the op's, as rows of tables.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "harness/forensics/explain/index_maps.h"

namespace assay::why {

// A sum that overflows in f32 stays infinite in the rows that follow.
inline double as_f32(double sum) {
  return static_cast<double>(static_cast<float>(sum));
}

// A row of the op's inputs: x, and what stands beside it; of rms_norm w, of swiglu gate and up. Its sums are taken once, over the
// elements that `summed` takes for its own.
struct Row {
  std::span<const float> x;
  std::span<const float> other;
  double eps;
  double nudge = 1;  // of what is rounded on the way: it may lie on either side of a tie
  double squares = 0;
  double weighted = 0;  // squares of the row times its weights
  double magnitudes = 0;
  double mean = 0;
  double most = -INFINITY;
  double exps = 0;  // of softmax, as what follows
  double powers_of_two = 0;
  double squares_so_far = 0;  // of all rows from the first to this one
  double exps_so_far = 0;
  double first_squares = 0;  // of the first row
  double first_most = 0;

  Row(std::span<const float> row, std::span<const float> beside, double norm_eps, const Row* before, const IndexMap* summed)
      : x(row), other(beside), eps(norm_eps) {
    for (const float value : x) most = std::max(most, static_cast<double>(value));
    const auto n = static_cast<std::int64_t>(x.size());
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t from = summed == nullptr ? i : summed->at(i, n);
      if (from != kNone) add(static_cast<std::size_t>(from));
    }
    squares_so_far = as_f32(squares + (before == nullptr ? 0 : before->squares_so_far));
    exps_so_far = exps + (before == nullptr ? 0 : before->exps_so_far);
    first_squares = before == nullptr ? squares : before->first_squares;
    first_most = before == nullptr ? most : before->first_most;
  }

  // An exponential in f32, which overflows, and is one of few numbers where it is small.
  double exp_from(std::size_t i, double offset) const {
    return as_f32(std::exp(static_cast<double>(x[i]) - offset) * nudge + (nudge - 1) * 0x1p-127);
  }
  double sum_from(double offset) const {
    if (!known_ || offset != known_offset_) {
      known_ = true;
      known_offset_ = offset;
      known_sum_ = 0;
      for (const double one : x) known_sum_ += as_f32(std::exp(static_cast<double>(one) - offset));
      known_sum_ = as_f32(known_sum_);
    }
    return known_sum_;
  }

 private:
  void add(std::size_t i) {
    const auto wide = static_cast<double>(x[i]);
    const double by_weight = other.empty() ? 0 : wide * static_cast<double>(other[i]);
    squares += wide * wide;
    weighted += by_weight * by_weight;
    magnitudes += std::fabs(wide);
    mean += wide / static_cast<double>(x.size());
    exps += std::exp(wide - most);
    powers_of_two += std::exp2(wide - most);
  }
  mutable bool known_ = false;
  mutable double known_offset_ = 0;
  mutable double known_sum_ = 0;
};

struct Formula {
  const char* family;
  const char* name;
  const char* kind;
  const char* words;
  double (*of)(const Row& row, std::size_t i);
  bool rounds = false;  // something on the way, times Row::nudge
};

std::span<const Formula> row_formulas();      // of rms_norm and softmax
std::span<const Formula> summed_formulas();   // theirs, for sums over other elements
std::span<const Formula> element_formulas();  // of swiglu, add and exp

}  // namespace assay::why
