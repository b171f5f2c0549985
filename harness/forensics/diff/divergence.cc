#include "harness/forensics/diff/divergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "harness/forensics/model/definition.h"
#include "harness/forensics/sites/site_name.h"

namespace assay::diff {
namespace {

constexpr double kFp64 = 0x1p-53;
constexpr double kFp32 = 0x1p-24;
constexpr double kFp16 = 0x1p-11;
constexpr double kBf16 = 0x1p-8;
constexpr double kBlocks = 0x1p-8;  // half a step of 127 to the block's largest

int last_layer(const std::vector<SiteError>& errors) {
  int last = -1;
  for (const SiteError& error : errors) last = std::max(last, parse_site(error.site).layer);
  return last;
}

bool diverges_in_most_rows(const SiteError& error, double inherited, std::int64_t width, const Threshold& threshold) {
  const double median = error.median_row_relative();
  if (!threshold.most_rows || median <= *threshold.most_rows || median <= threshold.growth * inherited) return false;
  const std::string_view kind = op_kind(parse_site(error.site).op);
  const bool rounds = kind == "projection" || kind == "logits";
  return !rounds || chance_of_flips(inherited, width, std::ssize(error.row_relative)) < kUnlikely;
}

}  // namespace

Rounding rounding_of(const TraceFile& trace) {
  const std::string& dtype = trace.head("dtype");
  const std::string& weights = trace.head("weights");
  const std::string& recipe = trace.head("recipe");
  if (dtype == "float64") return {kFp64, kFp64};
  if (dtype == "bfloat16") return {kBf16, kFp32};
  if (dtype == "float16") return {kFp16, kFp32};
  const bool quantised = weights.starts_with('Q') || weights.starts_with('q');
  if (quantised && (recipe == "llama.cpp" || recipe == "assay")) return {kBlocks, kFp32, true};
  if (recipe != "llama.cpp") return {kFp32, kFp32};
  return {weights == "f16" ? kFp16 : weights == "bf16" ? kBf16 : kFp32, kFp32};
}

Threshold default_threshold(const Rounding& a, const Rounding& b, std::int64_t tokens) {
  const double u = std::max(a.activations, b.activations);
  const double s = std::max(a.sums, b.sums);
  const double of_sums = (16 + static_cast<double>(tokens)) * s;
  Threshold out{16 * u + of_sums,
                kGrowth,
                fmt::format("16 u + (16 + T) s, u = 2^{}, s = 2^{}, T = {}", std::ilogb(u), std::ilogb(s), tokens),
                {}};
  if (a.codes && b.codes) out.most_rows = 16 * s + of_sums;
  return out;
}

double chance_of_flips(double error, std::int64_t width, std::int64_t rows) {
  const double p = -std::expm1(-127 * error * static_cast<double>(width));
  if (p >= 0.5) return 1;
  return std::pow(4 * p * (1 - p), static_cast<double>(rows) / 2);  // Chernoff's bound
}

std::vector<Growth> judge_growth(const std::vector<SiteError>& errors, const Threshold& threshold) {
  std::vector<Growth> out;
  std::map<std::string, const SiteError*, std::less<>> seen;
  const int last = last_layer(errors);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    Growth one;
    const std::vector<std::string> wired = site_inputs(errors[i].site, last);
    for (const std::string& input : wired) {
      if (seen.contains(input)) one.inputs.push_back(input);
    }
    const bool incomplete = wired.empty() || one.inputs.size() < wired.size();
    if (incomplete && i > 0 && std::find(one.inputs.begin(), one.inputs.end(), errors[i - 1].site) == one.inputs.end()) {
      one.inputs.push_back(errors[i - 1].site);
    }
    std::int64_t width = 0;
    for (const std::string& input : one.inputs) {
      one.inherited = std::max(one.inherited, seen.at(input)->largest_row_relative());
      width = std::max(width, seen.at(input)->width());
    }
    const double error = errors[i].largest_row_relative();
    if (error > 0) one.growth = one.inherited > 0 ? error / one.inherited : std::numeric_limits<double>::infinity();
    one.diverges = error > threshold.floor && error > threshold.growth * one.inherited;
    if (!one.diverges) one.in_most_rows = one.diverges = diverges_in_most_rows(errors[i], one.inherited, width, threshold);
    seen[errors[i].site] = &errors[i];
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace assay::diff
