#include "harness/forensics/diff/site_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::diff {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Sums {
  double d2 = 0, ours2 = 0, theirs2 = 0, product = 0;

  void add(const Sums& other) {
    d2 += other.d2;
    ours2 += other.ours2;
    theirs2 += other.theirs2;
    product += other.product;
  }
  double relative() const { return d2 == 0 ? 0 : theirs2 == 0 ? kInfinity : std::sqrt(d2 / theirs2); }
  double cosine() const {
    if (d2 == 0) return 1;
    return ours2 == 0 || theirs2 == 0 || !std::isfinite(d2) ? 0 : product / std::sqrt(ours2) / std::sqrt(theirs2);
  }
};

// |ours - theirs|, with what is not finite compared by class.
double distance(double ours, double theirs) {
  if (std::isfinite(ours) && std::isfinite(theirs)) return std::abs(ours - theirs);
  return ours == theirs || (std::isnan(ours) && std::isnan(theirs)) ? 0 : kInfinity;
}

std::vector<std::int64_t> index_in_row(std::int64_t flat, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> out;
  for (std::size_t axis = shape.size(); axis > 1; --axis) {
    out.push_back(flat % shape[axis - 1]);
    flat /= shape[axis - 1];
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

double SiteError::median_row_relative() const {
  if (row_relative.empty()) return 0;
  std::vector<double> sorted = row_relative;
  std::ranges::sort(sorted);
  return sorted[(sorted.size() - 1) / 2];
}

void row_values(const Array& array, std::int64_t row, std::vector<double>& out) {
  const std::int64_t length = array.shape.front() == 0 ? 0 : array.elements() / array.shape.front();
  out.resize(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < length; ++i) out[static_cast<std::size_t>(i)] = array.number(row * length + i);
}

SiteError site_error(const std::string& site, const Array& ours, const std::vector<std::int64_t>& rows_a, const Array& theirs,
                     const std::vector<std::int64_t>& rows_b) {
  SiteError out;
  out.site = site;
  std::vector<double> a;
  std::vector<double> b;
  Sums all;
  double worst = -1;
  std::int64_t worst_flat = 0;
  for (std::size_t row = 0; row < rows_a.size(); ++row) {
    row_values(ours, rows_a[row], a);
    row_values(theirs, rows_b[row], b);
    Sums sums;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double d = distance(a[i], b[i]);
      if (d > worst) {
        worst = d;
        worst_flat = static_cast<std::int64_t>(i);
        out.worst_row = static_cast<std::int64_t>(row);
        out.ours = a[i];
        out.theirs = b[i];
      }
      if (std::isinf(d)) ++out.not_finite;
      if (std::isfinite(a[i]) && std::isfinite(b[i])) sums.add({d * d, a[i] * a[i], b[i] * b[i], a[i] * b[i]});
      if (std::isinf(d)) sums.d2 = kInfinity;
    }
    out.elements += std::ssize(a);
    out.row_relative.push_back(sums.relative());
    all.add(sums);
  }
  out.max_abs = std::max(worst, 0.0);
  out.worst_at = index_in_row(worst_flat, ours.shape);
  out.rms = out.elements == 0 ? 0 : std::sqrt(all.d2 / static_cast<double>(out.elements));
  out.relative = all.relative();
  out.cosine = all.cosine();
  if (!out.row_relative.empty()) {
    out.largest_row = std::max_element(out.row_relative.begin(), out.row_relative.end()) - out.row_relative.begin();
  }
  return out;
}

}  // namespace assay::diff
