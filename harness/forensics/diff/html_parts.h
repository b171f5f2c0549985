// The pieces of the page (html.h). Each plot is a string of SVG or HTML; coordinates are in units of its viewBox.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/forensics/diff/diff.h"
#include "harness/reports/html/html.h"

namespace assay::diff::html {

using assay::html::escape;

// The page's style sheet, after that of all pages, and its script.
extern const char* const kStyle;
extern const char* const kScript;

// Errors on a logarithmic axis from `top` to `bottom`; no error lies at `zero`, an infinite one at the top.
struct LogScale {
  int low = -8, high = 0;  // powers of ten
  double top = 0, bottom = 1, zero = 1;

  double y(double error) const;
  std::vector<int> ticks(int at_most) const;
};

// Holds every error of the prompt, with `against` C's too, and the floor.
LogScale error_scale(const PromptDiff& prompt, bool against, double top, double bottom, double zero);

// Consecutive sites of one layer; -1: of none.
struct LayerRun {
  int layer = -1;
  std::size_t begin = 0, end = 0;
};
std::vector<LayerRun> layer_runs(const PromptDiff& prompt);

// "M 1.0 2.0 L ..." through the points.
std::string polyline_path(const std::vector<std::pair<double, double>>& points);

// Error of every site in execution order, with the floor, C's error, layers, and the first divergence marked.
std::string overview(const PromptDiff& prompt);
// A panel an op: its error over the layers, and that of its inputs.
std::string op_panels(const PromptDiff& prompt);
// Site by token, in bands of at most sixteen layers.
std::string heat_map(const PromptDiff& prompt);

// Rows of the heat map: one a position, or, of many, 48 in each of which the largest error counts.
struct RowBin {
  std::size_t begin = 0, end = 0;
};
std::vector<RowBin> row_bins(const PromptDiff& prompt);
double bin_error(const SiteError& error, const RowBin& bin);
std::string bin_label(const PromptDiff& prompt, const RowBin& bin);

}  // namespace assay::diff::html
