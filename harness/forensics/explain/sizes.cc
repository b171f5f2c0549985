// A size taken for a smaller one: what lies past it is not read, and what belongs there not written.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>

#include "harness/forensics/explain/hypothesis.h"
#include "harness/forensics/reduce/shrink.h"

namespace assay::why {
namespace {

using I = std::int64_t;

struct Smaller {
  const char* name;
  const char* kind;
  const char* words;
  I (*of)(I size, I unit);
  int cost;
  bool from_end = false;  // the first is left out instead of the last
};
constexpr Smaller kSmaller[] = {
    {"without-last", "tail", "is taken one smaller: the last is left out", [](I v, I unit) { return v - unit; }, 2},
    {"without-first", "tail", "is taken one smaller: the first is left out", [](I v, I unit) { return v - unit; }, 3, true},
    {"whole-4", "tail", "is rounded down to fours", [](I v, I unit) { return v / (4 * unit) * 4 * unit; }, 3},
    {"whole-8", "tail", "is rounded down to eights", [](I v, I unit) { return v / (8 * unit) * 8 * unit; }, 3},
    {"whole-16", "tail", "is rounded down to sixteens", [](I v, I unit) { return v / (16 * unit) * 16 * unit; }, 3},
    {"whole-32", "tail", "is rounded down to 32s", [](I v, I unit) { return v / (32 * unit) * 32 * unit; }, 3},
    {"whole-64", "tail", "is rounded down to 64s", [](I v, I unit) { return v / (64 * unit) * 64 * unit; }, 3},
    {"half", "tail", "is taken for half of it", [](I v, I unit) { return v / (2 * unit) * unit; }, 3},
    {"last-16", "tail", "lacks its last step of sixteen", [](I v, I unit) { return (v - 1) / (16 * unit) * 16 * unit; }, 3},
    {"8-bits", "narrow", "is kept in 8 bits", [](I v, I) { return v & 0xff; }, 2},
    {"16-bits", "narrow", "is kept in 16 bits", [](I v, I) { return v & 0xffff; }, 2},
    {"16-bits-signed", "narrow", "is kept in 16 bits with a sign",
     [](I v, I) { return static_cast<I>(static_cast<std::int16_t>(v)); }, 2},
};

// The first indices of each axis, or the last ones.
Array part_of(const Array& array, const std::vector<I>& shape, bool from_end) {
  if (array.shape.size() != shape.size()) throw std::invalid_argument("another number of axes");
  Array out{array.dtype, shape, {}};
  const std::size_t size = dtype_size(array.dtype);
  out.bytes.resize(static_cast<std::size_t>(out.elements()) * size);
  for (I i = 0; i < out.elements(); ++i) {
    I rest = i;
    I from = 0;
    I step = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (shape[axis] > array.shape[axis]) throw std::invalid_argument("a longer axis");
      from += (rest % shape[axis] + (from_end ? array.shape[axis] - shape[axis] : 0)) * step;
      rest /= shape[axis];
      step *= array.shape[axis];
    }
    std::copy_n(&array.bytes[static_cast<std::size_t>(from) * size], size, &out.bytes[static_cast<std::size_t>(i) * size]);
  }
  return out;
}

// What is expected of the smaller call's output, in the place that it has in the whole one; the rest is unwritten.
void spread_out(const TensorSpec& whole, const TensorSpec& part, bool from_end, reference::Expected& expected, Mask& unwritten) {
  reference::Expected out;
  const auto count = static_cast<std::size_t>(whole.elements());
  const std::size_t size = dtype_size(whole.dtype);
  unwritten.assign(count, true);
  out.bits_only.assign(count, 1);
  if (!expected.value.empty()) out.value.resize(count), out.bound.resize(count);
  if (!expected.bytes.empty()) out.bytes.resize(count * size);
  for (I i = 0; i < part.elements(); ++i) {
    I rest = i;
    I to = 0;
    I step = 1;
    for (std::size_t axis = part.shape.size(); axis-- > 0;) {
      to += (rest % part.shape[axis] + (from_end ? whole.shape[axis] - part.shape[axis] : 0)) * step;
      rest /= part.shape[axis];
      step *= whole.shape[axis];
    }
    const auto at = static_cast<std::size_t>(to);
    const auto from = static_cast<std::size_t>(i);
    unwritten[at] = false;
    out.bits_only[at] = expected.bits_only.empty() ? 0 : expected.bits_only[from];
    if (!expected.value.empty()) out.value[at] = expected.value[from], out.bound[at] = expected.bound[from];
    if (!expected.bytes.empty()) std::copy_n(&expected.bytes[from * size], size, &out.bytes[at * size]);
  }
  out.encoding = std::move(expected.encoding);
  expected = std::move(out);
}

// The call with the size so small, as the kernel would leave the whole one's outputs.
std::optional<Prediction> with_size(const Op& op, const Evidence& one, const std::string& name, I value, bool from_end) {
  try {
    Params params = one.whole;
    params.set(name, value);
    const Signature smaller = signature_of(op, params);
    std::vector<Array> inputs;
    std::vector<TensorSpec> outputs;
    for (const TensorSpec& spec : smaller.tensors) {
      if (spec.role == Direction::out) {
        outputs.push_back(spec);
      } else {
        inputs.push_back(part_of(one.call->inputs[inputs.size()], spec.shape, from_end));
      }
    }
    auto found = reference_of(op, params, inputs, one);
    if (!found) return std::nullopt;
    const auto whole = one.outputs();
    found->unwritten.resize(outputs.size());
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      if (outputs[o].shape.size() != whole[o]->shape.size()) return std::nullopt;
      for (std::size_t axis = 0; axis < outputs[o].shape.size(); ++axis) {
        if (outputs[o].shape[axis] > whole[o]->shape[axis]) return std::nullopt;
      }
      spread_out(*whole[o], outputs[o], from_end, found->outputs[o], found->unwritten[o]);
    }
    return found;
  } catch (const std::logic_error&) {  // no such call
    return std::nullopt;
  }
}

}  // namespace

void add_sizes(const Op& op, Cases cases, Hypotheses& all) {
  std::set<std::string> names;
  for (const Evidence& one : cases) {
    for (const ShrinkableSize& size : shrinkable_sizes(op, one.params)) names.insert(size.name);
  }
  const ShapeSpace space = op.family->shapes(op);
  for (const std::string& name : names) {
    const auto known = std::ranges::find_if(space.sizes, [&](const Size& one) { return one.name == name; });
    const I unit = known == space.sizes.end() ? 1 : known->unit;
    for (const Smaller& smaller : kSmaller) {
      all.push_back({fmt::format("{}:{}", smaller.name, name), smaller.kind, fmt::format("{} {}", name, smaller.words),
                     Law::layout, smaller.cost, [&op, name, unit, &smaller](const Evidence& one) -> std::optional<Prediction> {
                       const I value = one.params.integer_or(name, 0);
                       const I less = smaller.of(value, unit);
                       if (value <= 0 || less >= value || less < 0) return std::nullopt;
                       return with_size(op, one, name, less, smaller.from_end);
                     }});
    }
  }
}

}  // namespace assay::why
