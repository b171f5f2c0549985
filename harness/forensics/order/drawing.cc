#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "harness/forensics/order/report.h"

namespace assay::order {
namespace {

constexpr double kWidth = 1200;
constexpr double kHeight = 400;
constexpr double kMargin = 20;
constexpr double kTitle = 24;
constexpr double kPicture = kHeight + kTitle + 2 * kMargin;
constexpr int kMostNumbers = 64;  // terms with their numbers below

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return out;
}

struct Point {
  double x, y;
};

// A term's place is its number, a sum's the middle of what it joins; its height is that of the longest way down.
std::vector<Point> places_of(const Tree& tree) {
  const double step = kWidth / std::max(1, tree.terms());
  const double rise = kHeight / std::max(1, tree.depth());
  std::vector<Point> places(tree.size());
  for (std::size_t node = 0; node < tree.size(); ++node) {
    const Tree::Node& one = tree.at(static_cast<int>(node));
    Point& place = places[node];
    if (one.children.empty()) {
      place = {(one.term + 0.5) * step, 0};
      continue;
    }
    for (const int child : one.children) {
      const Point& below = places[static_cast<std::size_t>(child)];
      place.x += below.x / static_cast<double>(one.children.size());
      place.y = std::max(place.y, below.y + rise);
    }
  }
  return places;
}

void draw(const Tree& tree, double top, std::string& out) {
  const std::vector<Point> places = places_of(tree);
  const auto y_of = [&](const Point& place) { return top + kTitle + kMargin + kHeight - place.y; };
  out += "<path d=\"";
  for (std::size_t node = 0; node < tree.size(); ++node) {
    for (const int child : tree.at(static_cast<int>(node)).children) {
      const Point& below = places[static_cast<std::size_t>(child)];
      out += fmt::format("M{:.1f} {:.1f}V{:.1f}H{:.1f}", kMargin + below.x, y_of(below), y_of(places[node]),
                         kMargin + places[node].x);
    }
  }
  out += "\"/>\n";
  for (std::size_t node = 0; node < tree.size() && tree.terms() <= kMostNumbers; ++node) {
    const Tree::Node& one = tree.at(static_cast<int>(node));
    if (!one.children.empty()) continue;
    out += fmt::format("<text class=\"term\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kMargin + places[node].x,
                       y_of(places[node]) + 12, one.term);
  }
}

}  // namespace

std::string order_svg(const OrderResult& result) {
  std::string body;
  double top = 0;
  for (const KernelOrder& kernel : result.kernels) {
    for (const SumOrder& sum : kernel.sums) {
      if (!sum.found) continue;
      body += fmt::format(
          "<text x=\"{}\" y=\"{}\">{}</text>\n", kMargin, top + kTitle,
          escaped(fmt::format("{}, {}, {} {}: {}", kernel.variant, sum.params.to_string(), sum.terms, sum.what, words_of(sum))));
      draw(sum.found->tree, top, body);
      top += kPicture;
    }
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n"
             "<title>assay order {2}</title>\n"
             "<style>text{{font:14px sans-serif}}.term{{font-size:9px;text-anchor:middle}}"
             "path{{fill:none;stroke:#246;stroke-width:1}}</style>\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
             kWidth + 2 * kMargin, std::max(top, kPicture), result.op) +
         body + "</svg>\n";
}

}  // namespace assay::order
