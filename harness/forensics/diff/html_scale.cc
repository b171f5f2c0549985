#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/forensics/diff/html_parts.h"
#include "harness/forensics/sites/site_name.h"

namespace assay::diff::html {
namespace {

constexpr std::size_t kMostBins = 48;

void widen(double error, double& least, double& most) {
  if (!(error > 0) || !std::isfinite(error)) return;
  least = std::min(least, error);
  most = std::max(most, error);
}

}  // namespace

double LogScale::y(double error) const {
  if (!(error > 0)) return zero;
  if (std::isinf(error)) return top;
  const double part = (std::log10(error) - low) / (high - low);
  return bottom + std::clamp(part, 0.0, 1.0) * (top - bottom);
}

std::vector<int> LogScale::ticks(int at_most) const {
  const int step = std::max(1, (high - low + at_most - 1) / at_most);
  std::vector<int> out;
  for (int power = low; power <= high; power += step) out.push_back(power);
  return out;
}

LogScale error_scale(const PromptDiff& prompt, bool against, double top, double bottom, double zero) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  widen(prompt.threshold.floor, least, most);
  for (const SiteError& error : prompt.errors) widen(error.largest_row_relative(), least, most);
  for (std::size_t i = 0; against && i < prompt.against.size(); ++i) {
    widen(prompt.against[i].largest_row_relative(), least, most);
  }
  LogScale out{-8, 0, top, bottom, zero};
  if (most == 0) return out;
  out.low = static_cast<int>(std::floor(std::log10(least)));
  out.high = std::max(static_cast<int>(std::ceil(std::log10(most))), out.low + 2);
  return out;
}

std::vector<LayerRun> layer_runs(const PromptDiff& prompt) {
  std::vector<LayerRun> out;
  for (std::size_t i = 0; i < prompt.errors.size(); ++i) {
    const int layer = parse_site(prompt.errors[i].site).layer;
    if (out.empty() || out.back().layer != layer) out.push_back({layer, i, i});
    out.back().end = i + 1;
  }
  return out;
}

std::string polyline_path(const std::vector<std::pair<double, double>>& points) {
  std::string out;
  for (const auto& [x, y] : points) out += fmt::format("{}{:.1f} {:.1f}", out.empty() ? "M" : "L", x, y);
  return out;
}

std::vector<RowBin> row_bins(const PromptDiff& prompt) {
  const std::size_t rows = prompt.alignment.positions.size();
  const std::size_t count = std::min(rows, kMostBins);
  std::vector<RowBin> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back({i * rows / count, (i + 1) * rows / count});
  return out;
}

double bin_error(const SiteError& error, const RowBin& bin) {
  double most = 0;
  for (std::size_t row = bin.begin; row < bin.end; ++row) most = std::max(most, error.row_relative[row]);
  return most;
}

std::string bin_label(const PromptDiff& prompt, const RowBin& bin) {
  const auto& positions = prompt.alignment.positions;
  return bin.end - bin.begin == 1 ? std::to_string(positions[bin.begin])
                                  : fmt::format("{}-{}", positions[bin.begin], positions[bin.end - 1]);
}

}  // namespace assay::diff::html
