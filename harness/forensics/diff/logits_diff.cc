#include "harness/forensics/diff/logits_diff.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/forensics/diff/site_error.h"

namespace assay::diff {
namespace {

// As compare_rows() takes them; fp64 logits are rounded.
bool row_of(const Array& array, std::int64_t row, std::vector<double>& wide, std::vector<float>& out) {
  row_values(array, row, wide);
  out.assign(wide.size(), 0);
  std::transform(wide.begin(), wide.end(), out.begin(), [](double v) { return static_cast<float>(v); });
  return std::all_of(out.begin(), out.end(), [](float v) { return std::isfinite(v); });
}

// The k largest, sorted by index; of equal ones the first.
std::vector<std::int32_t> largest(const std::vector<float>& row, std::int64_t k) {
  std::vector<std::int32_t> index(row.size());
  std::iota(index.begin(), index.end(), 0);
  const auto end = index.begin() + k;
  std::partial_sort(index.begin(), end, index.end(), [&](std::int32_t i, std::int32_t j) {
    const float x = row[static_cast<std::size_t>(i)];
    const float y = row[static_cast<std::size_t>(j)];
    return x != y ? x > y : i < j;
  });
  index.erase(end, index.end());
  std::sort(index.begin(), index.end());
  return index;
}

double shared(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  std::vector<std::int32_t> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return static_cast<double>(both.size()) / static_cast<double>(a.size());
}

}  // namespace

LogitsDiff logits_diff(const Array& ours, const std::vector<std::int64_t>& rows_a, const Array& theirs,
                       const std::vector<std::int64_t>& rows_b, const std::vector<std::int32_t>& positions, std::int64_t top) {
  LogitsDiff out;
  std::vector<double> wide;
  std::vector<float> a;
  std::vector<float> b;
  for (std::size_t i = 0; i < rows_a.size(); ++i) {
    const bool finite_a = row_of(ours, rows_a[i], wide, a);
    const bool finite_b = row_of(theirs, rows_b[i], wide, b);
    if (!finite_a || !finite_b) {
      ++out.not_finite;
      continue;
    }
    ++out.rows;
    out.top = std::min<std::int64_t>(top, std::ssize(a));
    const RowComparison row = compare_rows(a, b);
    const double overlap = shared(largest(a, out.top), largest(b, out.top));
    out.overlap += overlap;
    if (overlap < out.least_overlap) {
      out.least_overlap = overlap;
      out.least_overlap_position = positions[i];
    }
    out.mean_kl += row.kl;
    if (out.rows == 1 || row.kl > out.largest_kl) {
      out.largest_kl = row.kl;
      out.largest_kl_position = positions[i];
    }
    if (row.flipped()) out.flips.push_back({positions[i], row});
  }
  if (out.rows == 0) return out;
  out.overlap /= static_cast<double>(out.rows);
  out.mean_kl /= static_cast<double>(out.rows);
  return out;
}

std::optional<GreedyDiff> greedy_diff(const TracePrompt& ours, const TracePrompt& theirs) {
  if (!ours.greedy || !theirs.greedy) return std::nullopt;
  const auto& a = ours.greedy->tokens;
  const auto& b = theirs.greedy->tokens;
  GreedyDiff out;
  out.compared = std::min(std::ssize(a), std::ssize(b));
  const auto parted = std::mismatch(a.begin(), a.begin() + out.compared, b.begin()).first - a.begin();
  if (parted == out.compared) return out;
  out.parting = parted;
  out.gap = theirs.greedy->gap[static_cast<std::size_t>(parted)];
  return out;
}

}  // namespace assay::diff
