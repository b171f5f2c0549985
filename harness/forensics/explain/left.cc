// Results on what lay in the outputs before the call; results in a narrower type.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "harness/forensics/explain/hypothesis.h"
#include "harness/verdict/declaration.h"
#include "reference/arithmetic.h"

namespace assay::why {
namespace {

using reference::Expected;

// What was there before the call is still there, wherever it is.
void add_unwritten(Hypotheses& all) {
  all.push_back({"unwritten", "unwritten", "some results are not written: they hold what lay there before the call", Law::layout,
                 4,
                 [](const Evidence& one) -> std::optional<Prediction> {
                   if (!one.fails()) return std::nullopt;
                   Prediction said = Prediction{one.call->expected, {}};
                   said.unwritten = one.unwritten;
                   return said;
                 },
                 Says::neither});
}

// What lay there is known of the call that was made once more; a case that passes cannot have it in its results.
std::optional<Prediction> accumulated(const Evidence& one) {
  Prediction said{one.call->expected, {}};
  if (one.fails() && one.before.empty()) return std::nullopt;
  said.of_again = one.fails();
  for (std::size_t o = 0; o < said.outputs.size(); ++o) {
    Expected& out = said.outputs[o];
    if (out.value.empty()) return std::nullopt;
    for (std::size_t i = 0; i < out.value.size(); ++i) {
      out.value[i] += one.fails() ? one.before[o].number(static_cast<std::int64_t>(i)) : NAN;
      out.bound[i] += 0x1p-23 * std::fabs(out.value[i]);
    }
  }
  return said;
}

// Every result is of the type, and no farther from the truth than its rounding is.
std::optional<Prediction> in_type(const reference::Number& type, const Evidence& one) {
  Prediction said{one.call->expected, {}};
  for (std::size_t o = 0; o < said.outputs.size(); ++o) {
    Expected& out = said.outputs[o];
    for (std::size_t i = 0; i < out.value.size(); ++i) {
      const double got = one.call->outputs[o].number(static_cast<std::int64_t>(i));
      if (!std::isfinite(got) || !std::isfinite(out.value[i])) {
        out.value[i] = type.round(out.value[i]);
        continue;
      }
      if (type.round(got) != got) out.value[i] = NAN;
      out.bound[i] += type.u() * std::fabs(got) + type.eta();
    }
  }
  return said;
}

void add_types(const Op& op, Cases cases, Hypotheses& all) {
  const auto specs = cases.front().outputs();
  const bool floats = std::ranges::all_of(specs, [](const TensorSpec* spec) { return spec->dtype == DType::f32; });
  if (!floats || op.contract->exactness != reference::Exactness::bounded) return;
  for (const char* const type : {"f16", "bf16"}) {
    std::string properties = fmt::format("out={};", type);
    try {
      arithmetic_of(op, {{"out", type}});
    } catch (const std::invalid_argument&) {  // the op has no use for it
      properties.clear();
    }
    all.push_back({fmt::format("results-in-{}", type), "narrowed", fmt::format("results are rounded to {}", type), Law::rounding,
                   2, [number = reference::find_number(type)](const Evidence& one) { return in_type(*number, one); }, Says::what,
                   properties});
  }
}

}  // namespace

void add_left(const Op& op, Cases cases, Hypotheses& all) {
  add_unwritten(all);
  if (op.contract->exactness != reference::Exactness::bounded) return;
  all.push_back(
      {"accumulated", "carry", "results are added to what lay in the output before the call", Law::layout, 2, accumulated});
  add_types(op, cases, all);
}

}  // namespace assay::why
