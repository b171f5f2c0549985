// Where outputs are wrong, where nothing says what stands there.
#include <fmt/format.h>

#include <algorithm>

#include "harness/forensics/explain/hypothesis.h"

namespace assay::why {
namespace {

using I = std::int64_t;

struct Place {
  const char* name;
  const char* words;  // {0}: the axis
  bool (*holds)(I index, I length);
  int cost;
};
constexpr Place kPlaces[] = {{"last", "the last along {0}", [](I i, I n) { return i == n - 1; }, 5},
                             {"first", "the first along {0}", [](I i, I) { return i == 0; }, 5},
                             {"past-16", "those past the last sixteen along {0}", [](I i, I n) { return i >= n / 16 * 16; }, 6},
                             {"past-4", "those past the last four along {0}", [](I i, I n) { return i >= n / 4 * 4; }, 6},
                             {"past-8", "those past the last eight along {0}", [](I i, I n) { return i >= n / 8 * 8; }, 6},
                             {"past-32", "those past the last 32 along {0}", [](I i, I n) { return i >= n / 32 * 32; }, 6},
                             {"upper-16", "of every sixteen along {0} the last eight", [](I i, I) { return i % 16 >= 8; }, 6},
                             {"not-first", "all but the first along {0}", [](I i, I) { return i > 0; }, 6},
                             {"second-half", "the second half along {0}", [](I i, I n) { return i >= n / 2; }, 6}};

// The truth, but for outputs of which nothing is said.
std::optional<Prediction> anything(const Evidence& one, const std::function<bool(const TensorSpec&, I)>& here) {
  Prediction said{one.call->expected, {}};
  const auto specs = one.outputs();
  bool some = false;
  for (std::size_t o = 0; o < specs.size(); ++o) {
    reference::Expected& expected = said.outputs[o];
    const I count = specs[o]->elements();
    if (expected.bits_only.empty()) expected.bits_only.assign(static_cast<std::size_t>(count), 0);
    for (I i = 0; i < count; ++i) {
      if (!here(*specs[o], i) || expected.bits_only[static_cast<std::size_t>(i)] != 0) continue;
      expected.bits_only[static_cast<std::size_t>(i)] = 1;
      some = true;
    }
  }
  return some ? std::optional(said) : std::nullopt;
}

void add_place(Cases cases, std::size_t axis, const Place& place, Hypotheses& all) {
  const TensorSpec& first = *cases.front().outputs().front();
  const std::string along = axis_name(cases, first.name, axis);
  all.push_back({fmt::format("where-{}:{}", place.name, along), "place",
                 fmt::format("of the outputs {} are other numbers", fmt::format(fmt::runtime(place.words), along)), Law::equation,
                 place.cost,
                 [axis, &place](const Evidence& one) {
                   return anything(one, [axis, &place](const TensorSpec& spec, I i) {
                     I inner = 1;
                     for (std::size_t a = axis + 1; a < spec.shape.size(); ++a) inner *= spec.shape[a];
                     return axis < spec.shape.size() && place.holds(i / inner % spec.shape[axis], spec.shape[axis]);
                   });
                 },
                 Says::place});
}

// Where an input of as many elements as the output is of a kind.
void add_kind_places(Cases cases, std::size_t input, Hypotheses& all) {
  const TensorSpec& spec = *cases.front().inputs()[input];
  for (int kind = 0; kind < kElementKinds; ++kind) {
    if (contents_words(spec, kind, false).empty()) return;
    all.push_back({fmt::format("where-{}:{}", element_kind(kind), spec.name), "contents",
                   fmt::format("the outputs where {} is {} are other numbers", spec.name, element_kind(kind)), Law::equation, 5,
                   [input, kind](const Evidence& one) -> std::optional<Prediction> {
                     const Array& x = one.call->inputs[input];
                     const std::size_t size = dtype_size(x.dtype);
                     return anything(one, [&](const TensorSpec& out, I i) {
                       const auto at = static_cast<std::size_t>(i) * size;
                       return out.elements() == x.elements() && (element_kinds(x.dtype, &x.bytes[at]) >> kind & 1) != 0;
                     });
                   },
                   Says::place});
  }
}

}  // namespace

void add_places(const Op& /*op*/, Cases cases, Hypotheses& all) {
  for (std::size_t input = 0; input < cases.front().inputs().size(); ++input) {
    const auto alike = [input](const Evidence& one) {
      return input >= one.inputs().size() || one.inputs()[input]->elements() == one.outputs().front()->elements();
    };
    if (std::ranges::all_of(cases, alike)) add_kind_places(cases, input, all);
  }
  const TensorSpec& first = *cases.front().outputs().front();
  for (std::size_t axis = 0; axis < first.shape.size(); ++axis) {
    for (const Place& place : kPlaces) add_place(cases, axis, place, all);
  }
  all.push_back({std::string(kEverywhere), "place", "the outputs are other numbers", Law::equation, 8,
                 [](const Evidence& one) { return anything(one, [](const TensorSpec&, I) { return true; }); }, Says::place});
}

}  // namespace assay::why
