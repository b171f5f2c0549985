#include "harness/forensics/logits.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace assay {
namespace {

// log of the sum of exp(x): the largest is taken out, so nothing overflows.
template <class T>
double log_sum_exp(std::span<const T> x) {
  const double most = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (const T v : x) sum += std::exp(v - most);
  return most + std::log(sum);
}

template <class T>
void check(std::span<const T> row) {
  if (row.empty()) throw std::invalid_argument("a row of no logits");
  const auto bad = std::find_if(row.begin(), row.end(), [](T v) { return !std::isfinite(v); });
  if (bad != row.end()) throw std::invalid_argument("logit " + std::to_string(bad - row.begin()) + " is not finite");
}

template <class T>
RowComparison compare(std::span<const float> ours, std::span<const T> theirs) {
  check(ours);
  check(theirs);
  if (ours.size() != theirs.size()) {
    throw std::invalid_argument(std::to_string(ours.size()) + " logits against " + std::to_string(theirs.size()));
  }
  RowComparison out;
  const double our_sum = log_sum_exp(ours);
  const double their_sum = log_sum_exp(theirs);
  double difference = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double q = ours[i] - our_sum;
    const double p = theirs[i] - their_sum;
    out.kl += std::exp(p) * (p - q);
    const double d = static_cast<double>(ours[i]) - static_cast<double>(theirs[i]);
    difference += d;
    out.difference_squared += d * d;
    out.theirs_squared += static_cast<double>(theirs[i]) * theirs[i];
  }
  const auto count = static_cast<double>(ours.size());
  out.kl = std::max(out.kl, 0.0);  // it is not negative but for rounding
  out.rms = std::sqrt(std::max(out.difference_squared / count - difference / count * (difference / count), 0.0));
  out.ours = std::max_element(ours.begin(), ours.end()) - ours.begin();
  out.theirs = std::max_element(theirs.begin(), theirs.end()) - theirs.begin();
  out.gap = static_cast<double>(theirs[static_cast<std::size_t>(out.theirs)]) - theirs[static_cast<std::size_t>(out.ours)];
  return out;
}

}  // namespace

double negative_log_likelihood(std::span<const float> logits, std::int64_t token) {
  check(logits);
  if (token < 0 || token >= std::ssize(logits)) {
    throw std::out_of_range("token " + std::to_string(token) + " of " + std::to_string(logits.size()) + " logits");
  }
  return log_sum_exp(logits) - logits[static_cast<std::size_t>(token)];
}

RowComparison compare_rows(std::span<const float> ours, std::span<const float> theirs) {
  return compare(ours, theirs);
}

RowComparison compare_rows(std::span<const float> ours, std::span<const double> theirs) {
  return compare(ours, theirs);
}

void LogitsComparison::add(std::int64_t position, const RowComparison& row) {
  ++rows_;
  kl_ += row.kl;
  largest_kl_ = std::max(largest_kl_, row.kl);
  difference_squared_ += row.difference_squared;
  theirs_squared_ += row.theirs_squared;
  if (row.flipped()) flips_.push_back({position, row});
}

double LogitsComparison::mean_kl() const {
  return rows_ == 0 ? 0 : kl_ / static_cast<double>(rows_);
}

double LogitsComparison::nmse() const {
  return theirs_squared_ > 0 ? difference_squared_ / theirs_squared_ : 0;
}

double LogitsComparison::agreement() const {
  return rows_ == 0 ? 0 : 1 - static_cast<double>(flips_.size()) / static_cast<double>(rows_);
}

}  // namespace assay
