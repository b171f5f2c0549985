// Inputs whose elements are taken for others, left out, exchanged with another's, or rounded.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "harness/forensics/explain/hypothesis.h"
#include "harness/forensics/explain/index_maps.h"
#include "reference/arithmetic.h"

namespace assay::why {
namespace {

std::optional<Prediction> with_inputs(const Op& op, const Evidence& one, std::vector<Array> inputs) {
  if (std::ranges::equal(inputs, one.call->inputs, {}, &Array::bytes, &Array::bytes)) return std::nullopt;
  return reference_of(op, one.params, inputs, one);
}

std::string names_of(Cases cases, const std::vector<std::size_t>& which) {
  const auto specs = cases.front().inputs();
  return which.size() == 1 ? specs[which[0]]->name : fmt::format("{} and {}", specs[which[0]]->name, specs[which[1]]->name);
}

// Of one input, or of two that lie alike, as k and v, or a table's sines and cosines.
void add_input_maps(const Op& op, Cases cases, const std::vector<std::size_t>& which, Hypotheses& all) {
  const TensorSpec& spec = *cases.front().inputs()[which.front()];
  const std::string name = names_of(cases, which);
  for (std::size_t axis = 0; axis < spec.shape.size(); ++axis) {
    const std::string along = axis_name(cases, spec.name, axis);
    for (const IndexMap& map : index_maps()) {
      all.push_back({fmt::format("{}:{}:{}", map.name, name, along), std::string(map.kind),
                     fmt::format("of {} along {}: {}", name, along, map.words), Law::layout, map.cost,
                     [&op, which, axis, &map](const Evidence& one) -> std::optional<Prediction> {
                       std::vector<Array> inputs = one.call->inputs;
                       for (const std::size_t input : which) {
                         if (axis >= inputs[input].shape.size()) return std::nullopt;
                         const auto from = sources(inputs[input].shape, axis, map);
                         if (!from) return std::nullopt;
                         inputs[input] = moved(inputs[input], *from);
                       }
                       return with_inputs(op, one, std::move(inputs));
                     }});
    }
  }
}

// Elements of an input of f32 as `change` makes them.
template <class Change>
Array changed(Array array, Change change) {
  for (std::size_t at = 0; at < array.bytes.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, &array.bytes[at], sizeof value);
    value = static_cast<float>(change(static_cast<double>(value)));
    std::memcpy(&array.bytes[at], &value, sizeof value);
  }
  return array;
}

// A NaN stays one.
template <int kLimit>
double clamped(double x) {
  return x < -kLimit ? -kLimit : x > kLimit ? kLimit : x;
}

struct OtherInput {
  const char* name;
  const char* kind;
  const char* words;
  double (*of)(double);
  int cost;
};
constexpr OtherInput kOtherInputs[] = {
    {"in-f16", "narrowed", "is rounded to f16", [](double x) { return reference::find_number("f16")->round(x); }, 2},
    {"in-bf16", "narrowed", "is rounded to bf16", [](double x) { return reference::find_number("bf16")->round(x); }, 2},
    {"negated", "sign", "is taken with the other sign", [](double x) { return -x; }, 2},
    {"magnitude", "sign", "is taken without its sign", [](double x) { return std::fabs(x); }, 2},
    {"as-one", "operand", "is taken for ones", [](double) { return 1.0; }, 2},
    {"as-zero", "operand", "is taken for zeros", [](double) { return 0.0; }, 2},
    {"plus-one", "operand", "is taken one larger (1 + w)", [](double x) { return x + 1; }, 2},
    {"flushed", "flush", "is read as zero where it is denormal",
     [](double x) { return std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }, 2},
    {"nan-as-zero", "class", "is taken for 0 where it is a NaN", [](double x) { return std::isnan(x) ? 0 : x; }, 2},
    {"nan-as-least", "class", "is taken for -infinity where it is a NaN", [](double x) { return std::isnan(x) ? -INFINITY : x; },
     2},
    {"clamped-1", "range", "is cut off at -1 and 1", clamped<1>, 4},
    {"clamped-7", "range", "is cut off at -7 and 7", clamped<7>, 4},
    {"clamped-8", "range", "is cut off at -8 and 8", clamped<8>, 4},
    {"clamped-10", "range", "is cut off at -10 and 10", clamped<10>, 4},
    {"clamped-20", "range", "is cut off at -20 and 20", clamped<20>, 4},
    {"clamped-88", "range", "is cut off at -88 and 88", clamped<88>, 4},
};

// Where it can be declared that this input is rounded first, add_declared has it.
bool is_declarable(const Op& op, const std::string& name) {
  const std::uint32_t words = op.family->declarable(op, {});
  return ((words & kActivations) != 0 && (name == "x" || name == "q")) || ((words & kWeights) != 0 && name == "w");
}

void add_changes(const Op& op, Cases cases, const std::vector<std::size_t>& which, Hypotheses& all) {
  const TensorSpec& spec = *cases.front().inputs()[which.front()];
  if (spec.dtype != DType::f32) return;
  const std::string name = names_of(cases, which);
  for (const OtherInput& change : kOtherInputs) {
    const bool narrows = std::string_view(change.kind) == "narrowed";
    if (narrows && is_declarable(op, spec.name)) continue;
    const Law law = narrows ? Law::rounding : Law::equation;
    const std::string words = fmt::format("{}{} {}", name, which.size() > 1 ? ", each," : "", change.words);
    all.push_back({fmt::format("{}:{}", change.name, name), change.kind, words, law, change.cost,
                   [&op, which, &change](const Evidence& one) {
                     std::vector<Array> inputs = one.call->inputs;
                     for (const std::size_t input : which) inputs[input] = changed(std::move(inputs[input]), change.of);
                     return with_inputs(op, one, std::move(inputs));
                   }});
  }
}

// f16 whose exponent is 0.
void add_flushed_halves(const Op& op, std::size_t input, const TensorSpec& spec, Hypotheses& all) {
  if (spec.dtype != DType::f16) return;
  all.push_back({fmt::format("flushed:{}", spec.name), "flush", fmt::format("{} is read as zero where it is denormal", spec.name),
                 Law::equation, 2, [&op, input](const Evidence& one) {
                   std::vector<Array> inputs = one.call->inputs;
                   for (std::size_t high = 1; high < inputs[input].bytes.size(); high += 2) {
                     std::uint8_t& byte = inputs[input].bytes[high];
                     if ((byte & 0x7c) == 0) byte &= 0x80, inputs[input].bytes[high - 1] = 0;
                   }
                   return with_inputs(op, one, std::move(inputs));
                 }});
}

// Two inputs of a type: each in the other's place, or one in both.
void add_exchanges(const Op& op, const Evidence& like, Hypotheses& all) {
  const auto specs = like.inputs();
  const auto add = [&](std::size_t to, std::size_t from, bool both) {
    const std::string words = both ? fmt::format("{} and {} change places", specs[to]->name, specs[from]->name)
                                   : fmt::format("{} stands in the place of {} too", specs[from]->name, specs[to]->name);
    all.push_back({fmt::format("{}:{}-{}", both ? "exchanged" : "twice", specs[to]->name, specs[from]->name), "operand", words,
                   Law::equation, 2, [&op, to, from, both](const Evidence& one) -> std::optional<Prediction> {
                     std::vector<Array> inputs = one.call->inputs;
                     if (inputs[to].bytes.size() != inputs[from].bytes.size()) return std::nullopt;
                     inputs[to].bytes = one.call->inputs[from].bytes;
                     if (both) inputs[from].bytes = one.call->inputs[to].bytes;
                     return with_inputs(op, one, std::move(inputs));
                   }});
  };
  for (std::size_t to = 0; to < specs.size(); ++to) {
    for (std::size_t from = 0; from < specs.size(); ++from) {
      if (to == from || specs[to]->dtype != specs[from]->dtype) continue;
      add(to, from, false);
      if (to < from) add(to, from, true);
    }
  }
}

}  // namespace

void add_inputs(const Op& op, Cases cases, Hypotheses& all) {
  const auto specs = cases.front().inputs();
  for (std::size_t input = 0; input < specs.size(); ++input) {
    add_input_maps(op, cases, {input}, all);
    add_changes(op, cases, {input}, all);
    add_flushed_halves(op, input, *specs[input], all);
    for (std::size_t other = input + 1; other < specs.size(); ++other) {
      if (specs[input]->shape != specs[other]->shape || specs[input]->dtype != specs[other]->dtype) continue;
      add_input_maps(op, cases, {input, other}, all);
      add_changes(op, cases, {input, other}, all);
    }
  }
  add_exchanges(op, cases.front(), all);
}

}  // namespace assay::why
