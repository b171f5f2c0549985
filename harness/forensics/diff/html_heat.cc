#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/forensics/diff/html_parts.h"
#include "harness/forensics/sites/site_name.h"

namespace assay::diff::html {
namespace {

constexpr double kHeatLeft = 64;
constexpr double kHeatRight = 1136;
constexpr double kTop = 22;
constexpr int kLayersOfBand = 16;

// Classes of error: h0 none; h1..h5 up to the floor; h6..h10 above it. Their upper ends, in floors.
constexpr std::array<double, 9> kEnds{0.03, 0.1, 0.3, 0.6, 1, 3, 30, 300, 1e4};

std::size_t class_of(double error, double floor) {
  if (!(error > 0)) return 0;
  return 1 + static_cast<std::size_t>(std::lower_bound(kEnds.begin(), kEnds.end(), error / floor) - kEnds.begin());
}

// The runs of each band, which is wide enough to tell its columns apart: layers are shared out evenly, what is outside them goes
// with its neighbours.
std::vector<std::vector<LayerRun>> bands_of(const PromptDiff& prompt) {
  const auto runs = layer_runs(prompt);
  const auto layers = std::count_if(runs.begin(), runs.end(), [](const LayerRun& run) { return run.layer >= 0; });
  const auto bands = std::max<std::ptrdiff_t>(1, (layers + kLayersOfBand - 1) / kLayersOfBand);
  const auto per_band = (layers + bands - 1) / bands;
  std::vector<std::vector<LayerRun>> out(1);
  std::ptrdiff_t in_band = 0;
  for (const LayerRun& run : runs) {
    if (run.layer >= 0 && in_band == per_band) {
      out.emplace_back();
      in_band = 0;
    }
    out.back().push_back(run);
    in_band += run.layer >= 0 ? 1 : 0;
  }
  return out;
}

struct Cells {
  std::size_t first, count;  // sites
  double width, height;      // of a cell
  double x(std::size_t site) const { return kHeatLeft + static_cast<double>(site - first) * width; }
};

// One path a class; neighbours of one class in a row are one rectangle.
std::string cell_paths(const PromptDiff& prompt, const std::vector<RowBin>& bins, const Cells& cells) {
  std::array<std::string, kEnds.size() + 2> paths;
  for (std::size_t row = 0; row < bins.size(); ++row) {
    const auto class_at = [&](std::size_t i) {
      return class_of(bin_error(prompt.errors[cells.first + i], bins[row]), prompt.threshold.floor);
    };
    for (std::size_t i = 0; i < cells.count;) {
      const std::size_t kind = class_at(i);
      std::size_t end = i + 1;
      while (end < cells.count && class_at(end) == kind) ++end;
      const double width = static_cast<double>(end - i) * cells.width;
      paths[kind] += fmt::format("M{:.2f} {:.1f}h{:.2f}v{:.1f}h-{:.2f}z", cells.x(cells.first + i),
                                 kTop + static_cast<double>(row) * cells.height, width, cells.height, width);
      i = end;
    }
  }
  std::string out;
  for (std::size_t kind = 0; kind < paths.size(); ++kind) {
    if (!paths[kind].empty()) out += fmt::format(R"(<path class="h{}" d="{}"/>)", kind, paths[kind]);
  }
  return out;
}

std::string row_labels(const PromptDiff& prompt, const std::vector<RowBin>& bins, double height) {
  const auto every = static_cast<std::size_t>(std::ceil(11 / height));
  std::string out;
  for (std::size_t row = 0; row < bins.size(); row += every) {
    out += fmt::format(R"(<text class="tick" x="{}" y="{:.1f}" text-anchor="end">{}</text>)", kHeatLeft - 6,
                       kTop + (static_cast<double>(row) + 0.5) * height + 4, bin_label(prompt, bins[row]));
  }
  return out;
}

std::string layer_labels(const std::vector<LayerRun>& band, const Cells& cells, double bottom) {
  std::string out;
  for (const LayerRun& run : band) {
    const double begin = cells.x(run.begin);
    out += fmt::format(R"(<path class="edge" d="M{0:.2f} {1}V{2:.1f}"/>)", begin, kTop - 4, bottom);
    if (run.layer < 0) continue;
    out += fmt::format(R"(<text class="tick" x="{:.1f}" y="{}" text-anchor="middle">layer {}</text>)",
                       (begin + cells.x(run.end)) / 2, kTop - 8, run.layer);
  }
  return out;
}

std::string divergence_frame(const PromptDiff& prompt, const Cells& cells, double bottom) {
  const auto sites = prompt.divergences();
  if (sites.empty() || sites.front() < cells.first || sites.front() >= cells.first + cells.count) return "";
  const double x = cells.x(sites.front());
  return fmt::format(R"(<path class="mark" d="M{0:.2f} {1}V{2:.1f}"/><path class="arrow" d="M{3:.2f} {4:.1f}l-5 9h10z"/>)", x,
                     kTop, bottom, x + cells.width / 2, bottom + 2);
}

std::string band_svg(const PromptDiff& prompt, const std::vector<LayerRun>& band, const std::vector<RowBin>& bins) {
  Cells cells{band.front().begin, band.back().end - band.front().begin, 0, 0};
  cells.width = std::min((kHeatRight - kHeatLeft) / static_cast<double>(cells.count), 24.0);
  cells.height = std::clamp(220 / static_cast<double>(bins.size()), 5.0, 14.0);
  const double bottom = kTop + cells.height * static_cast<double>(bins.size());
  return fmt::format(
             R"(<svg class="heat" viewBox="0 0 {} {:.1f}" data-first="{}" data-count="{}" data-rows="{}" data-x="{}" data-y="{}" )"
             R"(data-w="{:.4f}" data-h="{:.4f}" role="img" aria-label="error by site and token">)",
             kHeatRight + 4, bottom + 14, cells.first, cells.count, bins.size(), kHeatLeft, kTop, cells.width, cells.height) +
         cell_paths(prompt, bins, cells) + row_labels(prompt, bins, cells.height) + layer_labels(band, cells, bottom) +
         divergence_frame(prompt, cells, bottom) + "</svg>";
}

std::string heat_legend(double floor) {
  std::string out = R"(<p class="legend"><span><i class="cell h0"></i>equal</span>)";
  double least = 0;
  for (std::size_t kind = 0; kind <= kEnds.size(); ++kind) {
    const bool last = kind == kEnds.size();
    const std::string label = least == 0 ? fmt::format("to {:.0e}", kEnds[kind] * floor)
                              : last     ? fmt::format("above {:.0e}", least)
                                         : fmt::format("to {:.0e}{}", kEnds[kind] * floor, kEnds[kind] == 1 ? ", the floor" : "");
    out += fmt::format(R"(<span><i class="cell h{}"></i>{}</span>)", kind + 1, label);
    if (!last) least = kEnds[kind] * floor;
  }
  return out + "</p>";
}

}  // namespace

std::string heat_map(const PromptDiff& prompt) {
  const auto bins = row_bins(prompt);
  std::string out;
  for (const auto& band : bands_of(prompt)) out += band_svg(prompt, band, bins);
  return out + heat_legend(prompt.threshold.floor);
}

}  // namespace assay::diff::html
