// Results that are all scaled by one number, or cut off at one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "harness/forensics/explain/hypothesis.h"
#include "harness/forensics/middle.h"

namespace assay::why {
namespace {

using reference::Expected;

// One factor that every result has: the middle one of the ratios of the first case that fails; near 1 there is none to speak of.
constexpr double kNearOne = 1e-3;
std::optional<double> factor_of(const Evidence& one) {
  std::vector<double> ratios;
  const TensorSpec& spec = *one.outputs().front();
  const Expected& truth = one.call->expected.front();
  for (std::size_t i = 0; i < truth.value.size(); ++i) {
    const double value = element_as_double(spec.dtype, &one.call->outputs.front().bytes[i * dtype_size(spec.dtype)]);
    const bool skipped = !truth.bits_only.empty() && truth.bits_only[i] != 0;
    if (!skipped && std::isfinite(value) && std::fabs(truth.value[i]) > 256 * truth.bound[i])
      ratios.push_back(value / truth.value[i]);
  }
  if (ratios.size() < 2) return std::nullopt;
  const double middle = middle_of(std::move(ratios));
  // A short number if it is one, for its bound is then the truth's.
  const double quarter = std::round(middle * 4) / 4;
  const double factor = std::fabs(middle - quarter) < 1e-6 * std::fabs(middle) ? quarter : middle;
  return std::fabs(factor - 1) <= kNearOne || factor == 0 || !std::isfinite(factor) ? std::nullopt
                                                                                    : std::optional<double>(factor);
}

Prediction times(const Evidence& one, double factor) {
  Prediction said = truth_of(one);
  for (Expected& out : said.outputs) {
    for (std::size_t i = 0; i < out.value.size(); ++i) {
      out.value[i] *= factor;
      out.bound[i] = 2 * (out.bound[i] * std::fabs(factor) + 0x1p-22 * std::fabs(out.value[i]));
    }
  }
  return said;
}

// Where the factor is that of one size, it is named by it.
struct Power {
  const char* words;
  double of;
};
constexpr Power kPowers[] = {{"{}", 1}, {"1/{}", -1}, {"sqrt({})", 0.5}, {"1/sqrt({})", -0.5}};

void add_one_factor(Cases cases, Hypotheses& all) {
  const auto failing = std::ranges::find_if(cases, [](const Evidence& one) { return one.fails() && factor_of(one).has_value(); });
  if (failing == cases.end()) return;
  const double factor = *factor_of(*failing);
  all.push_back({"factor", "factor", fmt::format("results are {:.6g} times what they should be", factor), Law::equation, 3,
                 [factor](const Evidence& one) { return std::optional(times(one, factor)); }});
  for (const auto& [name, value] : failing->params.values()) {
    const auto* const whole = std::get_if<std::int64_t>(&value);
    if (whole == nullptr || *whole < 2) continue;
    for (const Power& power : kPowers) {
      if (std::fabs(factor / std::pow(static_cast<double>(*whole), power.of) - 1) > 1e-5) continue;
      const std::string words = fmt::format(fmt::runtime(power.words), name);
      all.push_back({fmt::format("factor:{}", words), "factor", fmt::format("results are {} times what they should be", words),
                     Law::equation, 2, [name = name, of = power.of](const Evidence& one) {
                       return std::optional(times(one, std::pow(static_cast<double>(one.params.integer_or(name, 1)), of)));
                     }});
    }
  }
}

// The largest magnitude of results that are wrong, where several have it and none has more: what they may have been cut to.
void add_clamp(Cases cases, Hypotheses& all) {
  constexpr std::size_t kFewest = 4;
  double limit = 0;
  std::size_t count = 0;
  for (const Evidence& one : cases) {
    for (std::size_t o = 0; o < one.wrong.size(); ++o) {
      if (one.call->expected[o].value.empty()) return;
      for (std::size_t i = 0; i < one.wrong[o].size(); ++i) {
        const double got = std::fabs(one.call->outputs[o].number(static_cast<std::int64_t>(i)));
        if (!one.wrong[o][i] || !(got >= limit) || std::isinf(got)) continue;
        count = got == limit ? count + 1 : 1;
        limit = got;
      }
    }
  }
  if (count < kFewest || limit == 0) return;
  all.push_back({"result-clamped", "range", fmt::format("results are clamped to {:.6g} on both sides", limit), Law::equation, 3,
                 [limit](const Evidence& one) {
                   Prediction said = truth_of(one);
                   for (Expected& out : said.outputs) {
                     for (double& value : out.value) value = std::isnan(value) ? value : std::clamp(value, -limit, limit);
                   }
                   return std::optional(said);
                 }});
}

// Copied numbers times a power of the length of their row, as embeddings are in some models.
void add_scaled_copies(Cases cases, Hypotheses& all) {
  const TensorSpec& first = *cases.front().outputs().front();
  if (cases.front().call->expected.front().bytes.empty() || first.dtype != DType::f32 || first.shape.empty()) return;
  const std::string along = axis_name(cases, first.name, first.shape.size() - 1);
  for (const Power& power : kPowers) {
    const std::string words = fmt::format(fmt::runtime(power.words), along);
    all.push_back({fmt::format("times:{}", words), "factor", fmt::format("what is copied is multiplied by {}", words),
                   Law::equation, 2, [of = power.of](const Evidence& one) -> std::optional<Prediction> {
                     Prediction said = truth_of(one);
                     Expected& out = said.outputs.front();
                     const auto length = static_cast<double>(one.outputs().front()->shape.back());
                     const auto factor = static_cast<float>(std::pow(length, of));
                     for (std::size_t at = 0; at < out.bytes.size(); at += sizeof(float)) {
                       const float scaled = static_cast<float>(element_as_double(DType::f32, &out.bytes[at])) * factor;
                       std::memcpy(&out.bytes[at], &scaled, sizeof scaled);
                     }
                     return said;
                   }});
  }
}

}  // namespace

void add_factors(const Op& /*op*/, Cases cases, Hypotheses& all) {
  add_one_factor(cases, all);
  add_clamp(cases, all);
  add_scaled_copies(cases, all);
}

}  // namespace assay::why
