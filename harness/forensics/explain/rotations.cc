// Pairs of rope turned in another way: of each result the part with the cosine and that with the sine, put together otherwise.
#include <algorithm>
#include <cmath>

#include "harness/forensics/explain/hypothesis.h"

namespace assay::why {
namespace {

struct Rotation {
  const char* name;
  const char* kind;
  const char* words;
  double first, second;   // what the sines' part counts in the first result of a pair and in the second
  bool in_place = false;  // the sine meets the first result, not x0
};
constexpr Rotation kRotations[] = {
    {"first-plus", "sign", "the first of a pair is x0 c + x1 s", -1, 1},
    {"second-minus", "sign", "the second of a pair is x1 c - x0 s", 1, -1},
    {"cosines-alone", "operand", "sines take no part", 0, 0},
    {"second-of-first", "carry", "the second of a pair is made of the first's result, as in place", 1, 1, true}};

// The reference's word with the cosines or the sines taken for zeros, of these x.
std::optional<Prediction> part_of_rope(const Op& op, const Evidence& one, std::size_t zeros, Array x) {
  std::vector<Array> inputs = one.call->inputs;
  inputs[0] = std::move(x);
  std::ranges::fill(inputs[zeros].bytes, std::uint8_t{0});
  return reference_of(op, one.params, inputs, one);
}

Array truth_as_x(const Evidence& one) {
  Array x = one.call->inputs[0];
  const std::vector<double>& value = one.call->expected[0].value;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto rounded = static_cast<float>(value[i]);
    std::copy_n(reinterpret_cast<const std::uint8_t*>(&rounded), sizeof rounded, &x.bytes[i * sizeof rounded]);
  }
  return x;
}

std::optional<Prediction> turned(const Op& op, const Rotation& way, const Evidence& one) {
  constexpr std::size_t kCosines = 1;
  constexpr std::size_t kSines = 2;
  auto said = part_of_rope(op, one, kSines, one.call->inputs[0]);
  const auto sines = part_of_rope(op, one, kCosines, one.call->inputs[0]);
  const auto again = way.in_place ? part_of_rope(op, one, kCosines, truth_as_x(one)) : sines;
  if (!said || !sines || !again) return std::nullopt;
  const std::int64_t width = one.outputs()[0]->shape.back();
  const std::int64_t turns = one.whole.integer_or("rot_dim", width);
  const bool neighbours = one.whole.has("pairing") && one.whole.text("pairing") == "adjacent";
  reference::Expected& out = said->outputs[0];
  for (std::size_t i = 0; i < out.value.size(); ++i) {
    const std::int64_t d = static_cast<std::int64_t>(i) % width;
    if (d >= turns) continue;
    const bool second = neighbours ? d % 2 == 1 : d >= turns / 2;
    const reference::Expected& with = (second ? again : sines)->outputs[0];
    out.value[i] += (second ? way.second : way.first) * with.value[i];
    // The parts do not tell a zero's sign.
    const double got = one.call->outputs[0].number(static_cast<std::int64_t>(i));
    if (out.value[i] == 0 && got == 0) out.value[i] = got;
    out.bound[i] += with.bound[i] + 0x1p-22 * (std::fabs(out.value[i]) + std::fabs(with.value[i]));
  }
  return said;
}

}  // namespace

void add_rotations(const Op& op, Cases /*cases*/, Hypotheses& all) {
  if (std::string_view(op.name) != "rope") return;
  for (const Rotation& way : kRotations) {
    all.push_back(
        {way.name, way.kind, way.words, Law::equation, 1, [&op, &way](const Evidence& one) { return turned(op, way, one); }});
  }
}

}  // namespace assay::why
