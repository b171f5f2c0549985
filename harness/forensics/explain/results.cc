// Results misplaced, unwritten, added up, rounded otherwise, or of another class.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>

#include "harness/forensics/explain/hypothesis.h"
#include "harness/forensics/explain/index_maps.h"
#include "reference/arithmetic.h"
#include "reference/convert.h"

namespace assay::why {
namespace {

using reference::Expected;

Expected moved_results(const TensorSpec& spec, const Expected& truth, const std::vector<std::int64_t>& from, Mask& unwritten) {
  Expected out = truth;
  const std::size_t size = dtype_size(spec.dtype);
  unwritten.assign(from.size(), false);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == kNone) {
      unwritten[i] = true;
      continue;
    }
    const auto at = static_cast<std::size_t>(from[i]);
    if (!truth.value.empty()) out.value[i] = truth.value[at], out.bound[i] = truth.bound[at];
    if (!truth.bytes.empty()) std::copy_n(&truth.bytes[at * size], size, &out.bytes[i * size]);
    if (!truth.bits_only.empty()) out.bits_only[i] = truth.bits_only[at];
  }
  return out;
}

void add_result_maps(Cases cases, Hypotheses& all) {
  const auto specs = cases.front().outputs();
  for (std::size_t o = 0; o < specs.size(); ++o) {
    for (std::size_t axis = 0; axis < specs[o]->shape.size(); ++axis) {
      const std::string along = axis_name(cases, specs[o]->name, axis);
      for (const IndexMap& map : index_maps()) {
        const bool leaves = std::string_view(map.words).ends_with("no part") ||
                            std::string_view(map.words).find("no part") != std::string_view::npos;
        const std::string words = leaves
                                      ? fmt::format("of {} along {} some are not written: {}", specs[o]->name, along, map.words)
                                      : fmt::format("of {} along {}: {}", specs[o]->name, along, map.words);
        all.push_back({fmt::format("out-{}:{}:{}", map.name, specs[o]->name, along), std::string(map.kind), words, Law::layout,
                       map.cost, [o, axis, &map](const Evidence& one) -> std::optional<Prediction> {
                         const TensorSpec& spec = *one.outputs()[o];
                         if (axis >= spec.shape.size() || !one.call->expected[o].encoding.weight.empty()) return std::nullopt;
                         const auto from = sources(spec.shape, axis, map);
                         if (!from) return std::nullopt;
                         Prediction said = truth_of(one);
                         for (const Expected& output : said.outputs)
                           said.unwritten.emplace_back(output.value.empty() ? output.bytes.size() : output.value.size(), false);
                         said.outputs[o] = moved_results(spec, one.call->expected[o], *from, said.unwritten[o]);
                         return said;
                       }});
      }
    }
  }
}

using Type = const reference::Number&;
struct OtherResult {
  const char* name;
  const char* kind;
  const char* words;
  Law law;
  double (*of)(double y, Type type);
  int cost;
};
constexpr OtherResult kOtherResults[] = {
    {"negated", "sign", "results have the other sign", Law::equation, [](double y, Type) { return -y; }, 2},
    {"magnitude", "sign", "results have lost their sign", Law::equation, [](double y, Type) { return std::fabs(y); }, 2},
    {"zero", "carry", "results are zero", Law::equation, [](double, Type) { return 0.0; }, 2},
    {"negative-zero-lost", "sign of zero", "-0 becomes +0", Law::classes, [](double y, Type) { return y == 0 ? 0.0 : y; }, 1},
    {"zero-negative", "sign of zero", "+0 becomes -0", Law::classes, [](double y, Type) { return y == 0 ? -0.0 : y; }, 1},
    {"nan-infinite", "class", "NaN becomes infinity", Law::classes, [](double y, Type) { return std::isnan(y) ? INFINITY : y; },
     1},
    {"nan-zero", "class", "NaN becomes zero", Law::classes, [](double y, Type) { return std::isnan(y) ? 0 : y; }, 1},
    {"infinity-nan", "class", "infinity becomes NaN", Law::classes, [](double y, Type) { return std::isinf(y) ? NAN : y; }, 1},
    {"infinity-largest", "class", "infinity becomes the largest number", Law::classes,
     [](double y, Type type) { return std::isinf(y) ? std::copysign(type.largest(), y) : y; }, 1},
    {"infinity-positive", "class", "-infinity becomes +infinity", Law::classes,
     [](double y, Type) { return y == -INFINITY ? INFINITY : y; }, 1},
    {"largest-infinite", "class", "the largest number becomes infinity", Law::classes,
     [](double y, Type type) { return std::fabs(y) >= type.largest() ? std::copysign(INFINITY, y) : y; }, 1},
    {"flushed", "flush", "what is below the smallest normal number becomes zero", Law::rounding,
     [](double y, Type type) { return std::fabs(y) < type.normal() ? std::copysign(0.0, y) : y; }, 1},
    {"clamped-zero", "range", "what is below 0 becomes 0", Law::equation, [](double y, Type) { return y < 0 ? 0 : y; }, 2},
};

// A result of a narrow type as the change makes it; of a wide one rounded to it.
void set_bytes(DType dtype, double value, std::uint8_t* at) {
  const auto single = static_cast<float>(value);
  if (dtype == DType::f32) std::memcpy(at, &single, sizeof single);
  if (dtype != DType::f16 && dtype != DType::bf16) return;
  const std::uint16_t bits =
      dtype == DType::f16 ? reference::narrow<reference::Half>(single) : reference::narrow<reference::Bfloat>(single);
  std::memcpy(at, &bits, sizeof bits);
}

// Nothing: no floats.
const reference::Number* number_of(DType dtype) {
  if (dtype == DType::f32) return &reference::kF32;
  return dtype == DType::f16 ? reference::find_number("f16") : dtype == DType::bf16 ? reference::find_number("bf16") : nullptr;
}

// What is changed is the result of a kernel that is otherwise right: a zero where its own is one and the bound allows it.
void change_output(const TensorSpec& spec, const OtherResult& change, const Array& got, Expected& out) {
  const reference::Number* const type = number_of(spec.dtype);
  if (type == nullptr) return;
  for (std::size_t i = 0; i < out.value.size(); ++i) {
    double& value = out.value[i];
    const bool zero = std::fabs(value) <= out.bound[i] && got.number(static_cast<std::int64_t>(i)) == 0;
    value = change.of(zero ? std::copysign(0.0, value) : value, *type);
  }
  if (out.value.empty()) {
    const std::size_t size = dtype_size(spec.dtype);
    for (std::size_t at = 0; at < out.bytes.size(); at += size) {
      const double value = element_as_double(spec.dtype, &out.bytes[at]);
      const double other = change.of(value, *type);
      if (std::bit_cast<std::uint64_t>(value) != std::bit_cast<std::uint64_t>(other))
        set_bytes(spec.dtype, other, &out.bytes[at]);
    }
  }
}

void add_other_results(Hypotheses& all) {
  for (const OtherResult& change : kOtherResults) {
    all.push_back({fmt::format("result-{}", change.name), change.kind, change.words, change.law, change.cost,
                   [&change](const Evidence& one) {
                     std::optional<Prediction> said = truth_of(one);
                     const auto specs = one.outputs();
                     for (std::size_t o = 0; o < specs.size(); ++o)
                       change_output(*specs[o], change, one.call->outputs[o], said->outputs[o]);
                     said->any_nan = true;
                     return said;
                   }});
  }
}

// Along an axis every result has those before added to it, or the one before.
void add_sums(Cases cases, Hypotheses& all) {
  const TensorSpec& first = *cases.front().outputs().front();
  for (std::size_t axis = 0; axis < first.shape.size(); ++axis) {
    for (const bool running : {true, false}) {
      const std::string along = axis_name(cases, first.name, axis);
      all.push_back(
          {fmt::format("{}:{}", running ? "running-sum" : "plus-previous", along), "carry",
           fmt::format("along {} {} of {} are added to each result", along, running ? "all before" : "that before", first.name),
           Law::equation, 3, [axis, running](const Evidence& one) -> std::optional<Prediction> {
             const TensorSpec& spec = *one.outputs().front();
             Prediction said = truth_of(one);
             Expected& out = said.outputs.front();
             if (out.value.empty() || axis >= spec.shape.size()) return std::nullopt;
             if (one.sample) {  // what would be added is not known
               out.bits_only.assign(out.value.size(), 1);
               return said;
             }
             std::int64_t inner = 1;
             for (std::size_t a = axis + 1; a < spec.shape.size(); ++a) inner *= spec.shape[a];
             const Expected truth = out;
             for (std::int64_t i = 0; i < spec.elements(); ++i) {
               if (i / inner % spec.shape[axis] == 0) continue;
               const auto at = static_cast<std::size_t>(i);
               const auto before = static_cast<std::size_t>(i - inner);
               out.value[at] += running ? out.value[before] : truth.value[before];
               out.bound[at] += running ? out.bound[before] : truth.bound[before];
               out.bound[at] += 0x1p-24 * std::fabs(out.value[at]);
             }
             return said;
           }});
    }
  }
}

}  // namespace

void add_results(const Op& /*op*/, Cases cases, Hypotheses& all) {
  add_result_maps(cases, all);
  add_other_results(all);
  add_sums(cases, all);
}

}  // namespace assay::why
