#include "harness/forensics/order/positive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

namespace assay::order {
namespace {

using Few = Positive::Few;

constexpr int kDigits[] = {24, 11, 8};  // of f32, f16, bf16
constexpr std::size_t kMostTried = 32;
constexpr double kMostHidden = 0x1p16;  // units of the sum that a rounded root may hide
constexpr double kUnderHalf = 0.375;    // of a unit: lost by itself, more than half of one in two; nothing near is

class ByTriples {
 public:
  explicit ByTriples(const Positive& sum) : sum_(sum) {}

  Found discover(std::span<const Tree> expected) {
    if (sum_.terms < 3) {
      found_.tree = expected.front();
      found_.hypothesis = true;
      return std::move(found_);
    }
    find_large();
    const JoinedFirst joined_first = [this](std::span<const Triple> triples) { return joined(triples); };
    const auto same = std::ranges::find_if(expected, [&](const Tree& tree) { return is_tree(tree, joined_first); });
    found_.hypothesis = same != expected.end();
    found_.tree = found_.hypothesis ? *same : reveal_by_triples(sum_.terms, joined_first);
    return std::move(found_);
  }

 private:
  // As many in a call as there are places.
  std::vector<double> run(const std::vector<Few>& all) {
    std::vector<double> results;
    for (std::size_t from = 0; from < all.size(); from += static_cast<std::size_t>(sum_.places)) {
      const auto some = std::span(all).subspan(from, std::min(all.size() - from, static_cast<std::size_t>(sum_.places)));
      ++found_.calls;
      const std::vector<double> part = sum_.run(some);
      results.insert(results.end(), part.begin(), part.end());
    }
    return results;
  }

  // One by which a unit in the sum's last place shows in the result, and less than that is lost.
  void find_large() {
    for (const int digits : kDigits) {
      found_.precision = digits;
      const std::vector<double> values = sum_.large(digits);
      if (is_one_large(visible(values, digits)) || is_one_large(visible(below_edges(values, digits), digits))) return;
    }
    throw NotObservable("no change of the sum by one unit in its last place shows in the result");
  }

  bool is_one_large(const std::vector<double>& values) {
    return std::ranges::any_of(values, [this](double value) {
      large_ = value;
      alone_.clear();
      return of_three_one_pair_is_first();
    });
  }

  static double unit_of(double value, int digits) { return std::ldexp(1.0, std::ilogb(value) + 1 - digits); }

  // A kernel that rounds the root shows few units of the sum. Above each value the least number of them that shows, by halving: one unit less is
  // a large term, where there is such a one.
  std::vector<double> below_edges(const std::vector<double>& values, int digits) {
    if (!sum_.near) return {};
    std::vector<double> least(values.size(), kMostHidden);
    std::vector<Few> asked;
    for (const double value : values) asked.push_back({{0, value}});
    const std::vector<double> alone = run(asked);
    for (double step = kMostHidden / 2; step >= 1; step /= 2) {
      for (std::size_t i = 0; i < values.size(); ++i)
        asked[i] = {{0, values[i]}, {sum_.terms - 1, (least[i] - step) * unit_of(values[i], digits)}};
      const std::vector<double> results = run(asked);
      for (std::size_t i = 0; i < values.size(); ++i) least[i] -= results[i] == alone[i] ? 0 : step;
    }
    std::vector<double> found;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double value = sum_.near(values[i] + (least[i] - 1) * unit_of(values[i], digits), digits);
      if (value > 0) found.push_back(value);
    }
    return found;
  }

  std::vector<double> visible(const std::vector<double>& values, int digits) {
    std::vector<Few> asked;
    for (const double value : values) {
      asked.push_back({{0, value}});
      asked.push_back({{0, value}, {sum_.terms - 1, unit_of(value, digits)}});
    }
    const std::vector<double> results = run(asked);
    std::vector<double> found;
    for (std::size_t i = 0; i < values.size() && found.size() < kMostTried; ++i) {
      if (std::isfinite(results[2 * i]) && results[2 * i] != results[2 * i + 1]) found.push_back(values[i]);
    }
    return found;
  }

  // No pair: the result does not show it. Each: nothing is lost.
  bool of_three_one_pair_is_first() {
    const int last = sum_.terms - 1;
    const std::vector<bool> found = joined(std::vector<Triple>{{0, 1, last}, {0, last, 1}, {1, last, 0}});
    const auto count = std::ranges::count(found, true);
    if (count < 2) return count == 1;
    throw NotObservable(fmt::format("the sum has more than {} bits, and the result shows no more of them", found_.precision));
  }

  std::vector<bool> joined(std::span<const Triple> triples) {
    std::vector<Few> asked;
    const double small = kUnderHalf * unit_of(large_, found_.precision);
    for (const Triple& one : triples) asked.push_back({{one.c, large_}, {one.a, small}, {one.b, small}});
    std::vector<int> new_places;
    for (const Triple& one : triples) {
      if (!alone_.emplace(one.c, 0).second) continue;
      new_places.push_back(one.c);
      asked.push_back({{one.c, large_}});
    }
    const std::vector<double> results = run(asked);
    for (std::size_t i = 0; i < new_places.size(); ++i) alone_[new_places[i]] = results[triples.size() + i];
    std::vector<bool> found;
    for (std::size_t i = 0; i < triples.size(); ++i) found.push_back(results[i] != alone_.at(triples[i].c));
    return found;
  }

  const Positive& sum_;
  Found found_;
  double large_ = 1;
  std::map<int, double> alone_;  // what the large term gives by itself, by where it is
};

}  // namespace

Found discover(const Positive& sum, std::span<const Tree> expected) {
  return ByTriples(sum).discover(expected);
}

}  // namespace assay::order
