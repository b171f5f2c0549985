// Two traces' logits, row by row, and their greedy continuations.
#pragma once

#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "golden/trace.h"
#include "harness/forensics/logits.h"

namespace assay::diff {

struct LogitsFlip {
  std::int32_t position = 0;
  RowComparison row;
  // The gap is within what errors of this size do to a difference of two logits: three of its standard deviations, sqrt(2) rms each.
  bool tie() const { return row.gap <= 3 * std::numbers::sqrt2 * row.rms; }
};

struct LogitsDiff {
  std::int64_t rows = 0;
  std::int64_t not_finite = 0;  // rows with a logit that is not finite, in either; not among `rows`
  std::int64_t top = 0;         // k
  double overlap = 0;           // mean share of the k largest that both have
  double least_overlap = 1;
  std::int32_t least_overlap_position = 0;
  double mean_kl = 0;  // of ours from theirs
  double largest_kl = 0;
  std::int32_t largest_kl_position = 0;
  std::vector<LogitsFlip> flips;
};

// Rows as in site_error(); `positions` of the rows. The k of `top` is cut to the vocabulary.
LogitsDiff logits_diff(const Array& ours, const std::vector<std::int64_t>& rows_a, const Array& theirs,
                       const std::vector<std::int64_t>& rows_b, const std::vector<std::int32_t>& positions, std::int64_t top);

// The continuations at temperature 0, where both traces have one.
struct GreedyDiff {
  std::int64_t compared = 0;            // tokens that both have
  std::optional<std::int64_t> parting;  // the first that differs
  float gap = 0;                        // of theirs there: first minus second logit
};

std::optional<GreedyDiff> greedy_diff(const TracePrompt& ours, const TracePrompt& theirs);

}  // namespace assay::diff
