#include <fmt/format.h>

#include <algorithm>

#include "harness/forensics/diff/html_parts.h"
#include "harness/forensics/model/definition.h"
#include "harness/forensics/sites/site_name.h"

namespace assay::diff::html {
namespace {

constexpr double kWidth = 1140;
constexpr double kLeft = 52;
constexpr double kRight = 1130;

constexpr double kPanelWidth = 270;
constexpr double kPanelHeight = 132;

// "1e-6" as people write it.
std::string power_label(double x, double y, int power) {
  return fmt::format(
      R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="end">10<tspan class="exp" dy="-4">{}</tspan></text>)", x, y + 4,
      power);
}

std::string grid(const LogScale& scale, double left, double right, int at_most) {
  std::string out;
  for (const int power : scale.ticks(at_most)) {
    const double y = scale.bottom + (scale.top - scale.bottom) * (power - scale.low) / (scale.high - scale.low);
    out += fmt::format(R"(<path class="grid" d="M{:.1f} {:.1f}H{:.1f}"/>)", left, y, right) + power_label(left - 5, y, power);
  }
  return out;
}

std::string floor_line(const PromptDiff& prompt, const LogScale& scale, double left, double right) {
  return fmt::format(R"(<path class="floor" d="M{:.1f} {:.1f}H{:.1f}"/>)", left, scale.y(prompt.threshold.floor), right);
}

struct Columns {
  double left, step;
  double centre(std::size_t i) const { return left + (static_cast<double>(i) + 0.5) * step; }
};

// A stripe for every other layer, and the numbers of as many as have room.
std::string layer_stripes(const PromptDiff& prompt, const Columns& columns, const LogScale& scale) {
  std::string out;
  const auto runs = layer_runs(prompt);
  const int every = runs.size() > 40 ? 4 : runs.size() > 20 ? 2 : 1;
  for (const LayerRun& run : runs) {
    const double begin = columns.left + static_cast<double>(run.begin) * columns.step;
    const double width = static_cast<double>(run.end - run.begin) * columns.step;
    if (run.layer < 0) continue;
    if (run.layer % 2 == 0) {
      out += fmt::format(R"(<rect class="stripe" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)", begin, scale.top,
                         width, scale.bottom - scale.top);
    }
    if (run.layer % every == 0) {
      out += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", begin + width / 2,
                         scale.zero + 16, run.layer);
    }
  }
  return out;
}

std::string curve(const char* style, const std::vector<SiteError>& errors, const Columns& columns, const LogScale& scale) {
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < errors.size(); ++i)
    points.emplace_back(columns.centre(i), scale.y(errors[i].largest_row_relative()));
  return fmt::format(R"(<path class="{}" d="{}"/>)", style, polyline_path(points));
}

std::string point(const PromptDiff& prompt, std::size_t i, double x, const LogScale& scale, double radius) {
  const SiteError& error = prompt.errors[i];
  const bool diverges = prompt.growth[i].diverges;
  return fmt::format(R"(<circle class="point k-{}{}" data-i="{}" cx="{:.1f}" cy="{:.1f}" r="{:.1f}"/>)",
                     op_kind(parse_site(error.site).op), diverges ? " diverges" : "", i, x, scale.y(error.largest_row_relative()),
                     diverges ? radius + 1.5 : radius);
}

// A line down the plot with the site's name beside it, on the side that has room.
std::string divergence_mark(const PromptDiff& prompt, const Columns& columns, const LogScale& scale) {
  const auto sites = prompt.divergences();
  if (sites.empty()) return "";
  const double x = columns.centre(sites.front());
  const bool left = x > (kLeft + kRight) / 2;
  return fmt::format(R"(<path class="mark" d="M{0:.1f} {1:.1f}V{2:.1f}"/><text class="mark-label" x="{3:.1f}" y="{4:.1f}" )"
                     R"(text-anchor="{5}">first divergence: {6}</text>)",
                     x, scale.top - 14, scale.zero, x + (left ? -6 : 6), scale.top - 6, left ? "end" : "start",
                     escape(prompt.errors[sites.front()].site));
}

std::string kind_legend(const PromptDiff& prompt) {
  std::vector<std::string_view> kinds;
  for (const SiteError& error : prompt.errors) {
    const auto kind = op_kind(parse_site(error.site).op);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  std::string out = R"(<p class="legend">)";
  for (const auto kind : kinds) {
    out += fmt::format(
        R"(<span><svg class="key" viewBox="0 0 10 10"><circle class="point k-{0}" cx="5" cy="5" r="4"/></svg>{0}</span>)", kind);
  }
  out +=
      R"(<span><svg class="key wide" viewBox="0 0 24 10"><path class="floor" d="M0 5H24"/></svg>floor of the threshold</span>)";
  if (!prompt.against.empty()) {
    out +=
        R"(<span><svg class="key wide" viewBox="0 0 24 10"><path class="against" d="M0 5H24"/></svg>C's distance from B</span>)";
  }
  return out + "</p>";
}

struct OpSites {
  std::string op;
  std::vector<std::size_t> sites;  // by layer
};

// Ops of the layers in the order in which they first run.
std::vector<OpSites> sites_by_op(const PromptDiff& prompt) {
  std::vector<OpSites> out;
  for (std::size_t i = 0; i < prompt.errors.size(); ++i) {
    const SiteName name = parse_site(prompt.errors[i].site);
    if (name.layer < 0) continue;
    auto found = std::find_if(out.begin(), out.end(), [&](const OpSites& one) { return one.op == name.op; });
    if (found == out.end()) found = out.insert(out.end(), {std::string(name.op), {}});
    found->sites.push_back(i);
  }
  return out;
}

std::string op_panel(const PromptDiff& prompt, const OpSites& op, int layers) {
  const LogScale scale = error_scale(prompt, false, 24, kPanelHeight - 20, kPanelHeight - 20);
  const double left = 38;
  const double right = kPanelWidth - 6;
  const auto x_of = [&](std::size_t i) {
    const int layer = parse_site(prompt.errors[i].site).layer;
    return left + (layer + 0.5) * (right - left) / layers;
  };
  const bool diverges = std::any_of(op.sites.begin(), op.sites.end(), [&](std::size_t i) { return prompt.growth[i].diverges; });
  std::string out = fmt::format(R"(<svg class="panel{}" viewBox="0 0 {} {}" role="img" aria-label="{} over layers">)",
                                diverges ? " bad" : "", kPanelWidth, kPanelHeight, escape(op.op));
  out += fmt::format(R"(<text class="panel-title" x="{}" y="14">{}</text>)", left, escape(op.op)) + grid(scale, left, right, 4);
  out += floor_line(prompt, scale, left, right);
  std::vector<std::pair<double, double>> own;
  std::vector<std::pair<double, double>> inherited;
  std::string points;
  for (const std::size_t i : op.sites) {
    own.emplace_back(x_of(i), scale.y(prompt.errors[i].largest_row_relative()));
    inherited.emplace_back(x_of(i), scale.y(prompt.growth[i].inherited));
    points += point(prompt, i, x_of(i), scale, layers > 32 ? 1.8 : 2.4);
  }
  out += fmt::format(R"(<path class="inherited" d="{}"/><path class="own k-{}" d="{}"/>)", polyline_path(inherited),
                     op_kind(op.op), polyline_path(own));
  const int every = layers > 40 ? 16 : layers > 12 ? 4 : 1;
  for (int layer = 0; layer < layers; layer += every) {
    out += fmt::format(R"(<text class="tick" x="{:.1f}" y="{}" text-anchor="middle">{}</text>)",
                       left + (layer + 0.5) * (right - left) / layers, kPanelHeight - 6, layer);
  }
  return out + points + "</svg>";
}

}  // namespace

std::string overview(const PromptDiff& prompt) {
  const LogScale scale = error_scale(prompt, true, 26, 286, 302);
  const Columns columns{kLeft, (kRight - kLeft) / static_cast<double>(prompt.errors.size())};
  std::string out =
      fmt::format(R"(<svg class="plot" viewBox="0 0 {} 340" role="img" aria-label="error by site in execution order">)", kWidth);
  out += fmt::format(R"(<text class="tick" x="{}" y="{}" text-anchor="end">equal</text>)", kLeft - 5, scale.zero + 4);
  out += layer_stripes(prompt, columns, scale) + grid(scale, kLeft, kRight, 8) + floor_line(prompt, scale, kLeft, kRight);
  out += fmt::format(R"(<text class="axis" x="{}" y="336" text-anchor="middle">layer, sites in execution order</text>)",
                     (kLeft + kRight) / 2);
  if (!prompt.against.empty()) out += curve("against", prompt.against, columns, scale);
  out += curve("thread", prompt.errors, columns, scale) + divergence_mark(prompt, columns, scale);
  const double radius = std::clamp(columns.step * 0.6, 1.6, 3.5);
  for (std::size_t i = 0; i < prompt.errors.size(); ++i) out += point(prompt, i, columns.centre(i), scale, radius);
  return out + "</svg>" + kind_legend(prompt);
}

std::string op_panels(const PromptDiff& prompt) {
  int layers = 0;
  for (const SiteError& error : prompt.errors) layers = std::max(layers, parse_site(error.site).layer + 1);
  std::string out = R"(<div class="panels">)";
  for (const OpSites& op : sites_by_op(prompt)) out += op_panel(prompt, op, layers);
  return out +
         R"(</div><p class="legend"><span><svg class="key wide" viewBox="0 0 24 10"><path class="inherited" d="M0 5H24"/></svg>)"
         R"(largest error among the op's inputs</span></p>)";
}

}  // namespace assay::diff::html
