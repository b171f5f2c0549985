// How far the values of one site lie from another trace's, in fp64.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "golden/trace.h"

namespace assay::diff {

struct SiteError {
  std::string site;
  std::int64_t elements = 0;
  // d = ours - theirs; two NaN, and infinities of one sign, differ by nothing.
  double max_abs = 0;   // of d
  double rms = 0;       // of d
  double relative = 0;  // rms of d over the rms of theirs; infinite where theirs is all zero and d is not
  double cosine = 1;    // of the angle between ours and theirs; 0 where one of them is zero
  // Where |d| is largest.
  std::int64_t worst_row = 0;          // among those that are compared
  std::vector<std::int64_t> worst_at;  // within the row
  double ours = 0, theirs = 0;         // there
  std::int64_t not_finite = 0;       // elements where one is finite and the other not, or of another class or sign: d is infinite
  std::vector<double> row_relative;  // `relative` of each row by itself
  std::int64_t largest_row = 0;      // the row with the largest of these
  std::int64_t width() const { return row_relative.empty() ? 0 : elements / std::ssize(row_relative); }
  double median_row_relative() const;  // 0 where there is no row; of an even number the lower
  double largest_row_relative() const { return row_relative.empty() ? 0 : row_relative[static_cast<std::size_t>(largest_row)]; }
};

// `rows_a` and `rows_b` are the rows to compare, one with the other; the arrays have one row shape, of numbers.
SiteError site_error(const std::string& site, const Array& ours, const std::vector<std::int64_t>& rows_a, const Array& theirs,
                     const std::vector<std::int64_t>& rows_b);

// A row's numbers, widened; exact.
void row_values(const Array& array, std::int64_t row, std::vector<double>& out);

}  // namespace assay::diff
