#include "harness/forensics/eval/site_rms.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "harness/forensics/sites/site_name.h"

namespace assay {
namespace {

void check_numbers(const Array& array) {
  if (is_block(array.dtype)) throw std::invalid_argument(std::string(dtype_name(array.dtype)) + " blocks are no numbers");
}

double root_mean_square(std::int64_t count, const std::function<double(std::int64_t)>& value) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += value(i) * value(i);
  return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
}

double median_of(std::vector<double> figures) {
  if (figures.empty()) return 0;
  const auto middle = figures.begin() + std::ssize(figures) / 2;
  std::nth_element(figures.begin(), middle, figures.end());
  if (figures.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(figures.begin(), middle)) / 2;
}

KindErrors summary(std::string kind, std::span<const SiteRms> errors, const std::function<bool(const SiteRms&)>& belongs) {
  KindErrors out;
  out.kind = std::move(kind);
  std::vector<double> figures;
  for (const SiteRms& error : errors) {
    if (!belongs(error)) continue;
    ++out.sites;
    if (error.exact()) {
      ++out.exact;
      continue;
    }
    // A site that holds a NaN is worse than any.
    const double figure = std::isnan(error.figure()) ? std::numeric_limits<double>::infinity() : error.figure();
    figures.push_back(figure);
    if (out.at != nullptr && figure <= out.worst) continue;
    out.worst = figure;
    out.at = &error;
  }
  out.median = median_of(std::move(figures));
  return out;
}

}  // namespace

double rms_difference(const Array& a, const Array& b) {
  check_numbers(a);
  check_numbers(b);
  if (a.elements() != b.elements()) {
    throw std::invalid_argument(std::to_string(a.elements()) + " elements against " + std::to_string(b.elements()));
  }
  return root_mean_square(a.elements(), [&](std::int64_t i) { return a.number(i) - b.number(i); });
}

double rms(const Array& a) {
  check_numbers(a);
  return root_mean_square(a.elements(), [&](std::int64_t i) { return a.number(i); });
}

std::vector<KindErrors> errors_by_kind(std::span<const SiteRms> errors) {
  std::vector<std::string_view> kinds;
  for (const SiteRms& error : errors) {
    if (std::ranges::find(kinds, parse_site(error.site).op) == kinds.end()) kinds.push_back(parse_site(error.site).op);
  }
  std::vector<KindErrors> out;
  for (const std::string_view kind : kinds) {
    out.push_back(summary(std::string(kind), errors, [kind](const SiteRms& e) { return parse_site(e.site).op == kind; }));
  }
  return out;
}

KindErrors errors_over_all(std::span<const SiteRms> errors) {
  return summary("all", errors, [](const SiteRms&) { return true; });
}

}  // namespace assay
