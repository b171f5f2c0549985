// A gate that goes through another function than silu, whichever: what the values are of up depends on the gate alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/forensics/audit/explain.h"

namespace assay::explanation {
namespace {

struct Point {
  double gate;
  double silu;
  double off;    // value / up - silu
  double slack;  // of that, by roundings
};

std::vector<Point> points_of(const Tries& tries, const Truth& truth) {
  const SiteCall& call = tries.site().call;
  std::vector<Point> points;
  for (Eigen::Index i = 0; i < truth.value.size(); ++i) {
    const double up = call.inputs[1].data()[i];
    if (up == 0) continue;
    const double value = tries.value().data()[i];
    const double slack = truth.bound.data()[i] + 4 * tries.site().recipe.u * std::abs(value);
    points.push_back(
        {call.inputs[0].data()[i], truth.value.data()[i] / up, (value - truth.value.data()[i]) / up, slack / std::abs(up)});
  }
  std::ranges::sort(points, {}, &Point::gate);
  return points;
}

}  // namespace

// Each point is held to the line between its neighbours, where those are so near that no smooth function bends between them. What is silu times a
// number is no other function.
void try_other_gate(Tries& tries, const Truth& truth) {
  constexpr double kNear = 0x1p-8;
  constexpr std::size_t kLeast = 100;  // points
  constexpr double kClear = 10;        // times what roundings allow
  constexpr double kVaries = 0.25;
  const std::vector<Point> points = points_of(tries, truth);
  std::size_t near = 0;
  std::size_t on_the_line = 0;
  std::vector<Point> clear;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const Point& one = points[i];
    const Point& before = points[i - 1];
    const Point& after = points[i + 1];
    const double gap = after.gate - before.gate;
    if (!(gap > 0 && gap < kNear) || !std::isfinite(one.off)) continue;
    ++near;
    const double line = before.off + (one.gate - before.gate) / gap * (after.off - before.off);
    const double most = before.slack + one.slack + after.slack + gap * gap * std::abs(one.off);
    if (std::abs(one.off - line) <= most) ++on_the_line;
    if (std::abs(one.off) > kClear * most) clear.push_back(one);
  }
  if (near < kLeast || on_the_line * 100 < near * 99 || clear.size() * 2 < near) return;
  std::vector<double> parts;
  for (const Point& one : clear) parts.push_back(one.off / one.silu);
  std::ranges::sort(parts);
  const double low = parts[parts.size() / 10];
  const double high = parts[parts.size() * 9 / 10];
  if (high - low < kVaries * std::max(std::abs(low), std::abs(high))) return;
  const Point& farthest = *std::ranges::max_element(clear, {}, [](const Point& one) { return std::abs(one.off); });
  tries.add(fmt::format("another function of the gate than silu: of {:.4g} it is {:.6g}, silu {:.6g}", farthest.gate,
                        farthest.silu + farthest.off, farthest.silu));
}

}  // namespace assay::explanation
