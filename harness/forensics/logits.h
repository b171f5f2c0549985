// What two rows of logits say of one another, and of the token that came next. All in fp64.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay {

// -log of the softmax's value at `token`. Throws std::out_of_range for a token outside the row.
double negative_log_likelihood(std::span<const float> logits, std::int64_t token);

struct RowComparison {
  double kl = 0;          // of ours from theirs: sum of p log(p / q), p theirs, q ours
  double rms = 0;         // of the difference of the logits less its mean, which no softmax sees
  std::int64_t ours = 0;  // the first of the largest
  std::int64_t theirs = 0;
  double gap = 0;                 // theirs at its own token less theirs at ours: what a flip had to overcome
  double difference_squared = 0;  // sum of (ours - theirs)^2, means left in
  double theirs_squared = 0;      // sum of theirs^2

  bool flipped() const { return ours != theirs; }
};

// Of rows of equal length, at least one; std::invalid_argument otherwise and for numbers that are not finite. Theirs may be
// a truth in fp64.
RowComparison compare_rows(std::span<const float> ours, std::span<const float> theirs);
RowComparison compare_rows(std::span<const float> ours, std::span<const double> theirs);

struct Flip {
  std::int64_t position = 0;
  RowComparison row;
};

// Rows one after the other.
class LogitsComparison {
 public:
  void add(std::int64_t position, const RowComparison& row);

  std::int64_t rows() const { return rows_; }
  double mean_kl() const;
  double largest_kl() const { return largest_kl_; }
  double nmse() const;       // sum of squared differences over the sum of theirs squared
  double agreement() const;  // share of rows whose largest logit is at the same token
  const std::vector<Flip>& flips() const { return flips_; }

 private:
  std::int64_t rows_ = 0;
  double kl_ = 0;
  double largest_kl_ = 0;
  double difference_squared_ = 0;
  double theirs_squared_ = 0;
  std::vector<Flip> flips_;
};

}  // namespace assay
