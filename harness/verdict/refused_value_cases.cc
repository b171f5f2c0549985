// Calls of which an input holds a number that some op must refuse.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>

#include "harness/verdict/check.h"
#include "harness/verdict/coverage.h"
#include "harness/verdict/drawn_case.h"
#include "harness/verdict/suite.h"
#include "reference/ops/status.h"

namespace assay {
namespace {

// Numbers that some op must refuse, and the last that it must not: not finite, past an angle's frequency, past what an f16 scale reaches, past
// positions, no index.
constexpr double kRefusable[] = {NAN, INFINITY, -1, 17, -5e6, 0x1p30, -NAN, -INFINITY, 16, 0x1p24 - 1, 0x1p24};
constexpr std::size_t kTriedAsAll = 6;  // the first of them
constexpr double kRefusedWork = 1 << 16;
constexpr double kFarWork = 1 << 23;
constexpr std::int64_t kFarRows = 600;

bool holds_number(DType dtype, double value) {
  return dtype == DType::f32 || (dtype == DType::i32 && std::isfinite(value));
}

// Elements first .. end - 1.
void set(Array& array, std::int64_t first, std::int64_t end, double value) {
  const auto set_to = [&](auto number) {
    for (std::int64_t i = std::max<std::int64_t>(first, 0); i < end; ++i)
      std::memcpy(&array.bytes[static_cast<std::size_t>(i) * sizeof number], &number, sizeof number);
  };
  array.dtype == DType::f32 ? set_to(static_cast<float>(value)) : set_to(static_cast<std::int32_t>(value));
}

enum class Tried : std::uint8_t { all, refused, first_refused };

// The call with a number that some op must refuse as the last of each input, or as all of them; or only where it is refused, or the first
// that is.
void add_refusable(const Op& op, const Params& params, Tried tried, std::vector<TestCase>& cases) {
  const TestCase right = drawn_case(op, params, "gauss", 1);
  if (right.status != ASSAY_OK) return;
  const Signature signature = signature_of(op, params);
  const auto add = [&](std::size_t i, double value, bool all) {
    if (!holds_number(right.inputs[i].dtype, value)) return false;
    TestCase test = right;
    const std::int64_t end = test.inputs[i].elements();
    set(test.inputs[i], all ? 0 : end - 1, end, value);
    test.status = status_for(op, params, signature, test.inputs);
    if (tried != Tried::all && test.status == ASSAY_OK) return false;
    test.name = fmt::format("{} {} {}, {}", signature.tensors[i].name, all ? "is all" : "ends in", value, params.to_string());
    test.repro = fmt::format("--case {}", kRefusals);
    cases.push_back(std::move(test));
    return true;
  };
  for (std::size_t i = 0; i < right.inputs.size(); ++i) {
    for (std::size_t v = 0; v < std::size(kRefusable); ++v) {
      if (add(i, kRefusable[v], false) && tried == Tried::first_refused) break;
      if (tried == Tried::all && v < kTriedAsAll) add(i, kRefusable[v], true);
    }
  }
}

// The last number from 0 on that is taken, and the next, up to one that is refused.
template <class Taken>
std::array<double, 2> edge_of(DType dtype, double refused, const Taken& taken) {
  const bool real = dtype == DType::f32;
  const auto number = [&](std::int64_t step) {
    return real ? double{std::bit_cast<float>(static_cast<std::uint32_t>(step))} : static_cast<double>(step);
  };
  std::int64_t low = 0;
  std::int64_t high = real ? std::bit_cast<std::uint32_t>(static_cast<float>(refused)) : static_cast<std::int64_t>(refused);
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (taken(number(middle)) ? low : high) = middle;
  }
  return {number(low), number(high)};
}

// As many rows, or blocks of the one row, as a kernel may look at in several steps.
constexpr std::int64_t kPlaces = 41;

// The first number that is refused, and the first that is one, in each of them in turn; in the first those at the edge.
void add_everywhere(const Op& op, const ShapeSpace& space, std::vector<TestCase>& cases) {
  const bool one_size = std::ranges::count_if(space.sizes, &Size::in_every_call) == 1;
  const Params params = sized(
      space, [&](const Size& size) { return size.in_use.empty() || one_size ? in_units(kPlaces * size.unit, size) : size.unit; });
  const Signature signature = signature_of(op, params);
  const TestCase right = drawn_case(op, params, "gauss", 1);
  if (right.status != ASSAY_OK) return;
  const auto with = [&](std::size_t i, std::int64_t element, double value) {
    TestCase test = right;
    set(test.inputs[i], element, element + 1, value);
    test.status = status_for(op, params, signature, test.inputs);
    test.name = fmt::format("{} at {} of {}, {}", value, element, signature.tensors[i].name, params.to_string());
    test.repro = fmt::format("--case {}", kRefusals);
    return test;
  };
  for (std::size_t input = 0; input < right.inputs.size(); ++input) {
    const std::int64_t elements = right.inputs[input].elements();
    const auto taken = [&](double value) { return with(input, 0, value).status == ASSAY_OK; };
    const auto refuses = [&](double value) {
      return elements > 0 && holds_number(right.inputs[input].dtype, value) && !taken(value);
    };
    std::vector<double> refused;
    for (const double value : kRefusable) {
      const bool other_kind = refused.empty() || (refused.size() == 1 && !std::isfinite(refused[0]) && std::isfinite(value));
      if (other_kind && refuses(value)) refused.push_back(value);
    }
    for (const double value : refused) {
      for (std::int64_t place = 0; place < std::min(kPlaces, elements); ++place)
        cases.push_back(with(input, place * elements / std::min(kPlaces, elements), value));
    }
    const double* const beyond =
        std::ranges::find_if(kRefusable, [&](double value) { return value > 0 && std::isfinite(value) && refuses(value); });
    if (beyond == std::end(kRefusable) || !taken(0)) continue;
    for (const double value : edge_of(right.inputs[input].dtype, *beyond, taken)) cases.push_back(with(input, 0, value));
  }
}

}  // namespace

std::vector<TestCase> refused_value_cases(const Op& op) {
  if (op.family->refusal == nullptr) return {};
  const ShapeSpace space = op.family->shapes(op);
  std::map<std::string, Params> calls;  // by their names: two choices may draw the same
  const auto draw = [&](const Params& fixed) {
    Draws draws(1);
    Params params = draw_params(op, space, draws, kRefusedWork, fixed);
    calls.emplace(params.to_string(), std::move(params));
  };
  draw({});
  for (const Choice& choice : space.choices) {
    for (const ParamValue& value : choice.values) draw({{choice.name, value}});
  }
  std::vector<TestCase> cases;
  for (const auto& [name, params] : calls) add_refusable(op, params, Tried::all, cases);
  if (std::ranges::all_of(cases, [](const TestCase& test) { return test.status == ASSAY_OK; })) return {};
  add_everywhere(op, space, cases);
  // Where there is nothing to do, and far behind.
  for (const Size& size : space.sizes) {
    Draws draws(1);
    if (!size.in_every_call()) continue;
    const std::vector<std::int64_t> in_use = values_in_use(size.in_use);
    const std::int64_t most = std::min(size.limit, in_use.empty() ? in_units(kFarRows, size) : in_units(in_use.back(), size));
    add_refusable(op, draw_params(op, space, draws, kRefusedWork, {{size.name, std::int64_t{0}}}), Tried::refused, cases);
    for (const std::int64_t far : {most, most - size.unit}) {  // of two, one leaves a tail
      const Params params = draw_params(op, space, draws, kFarWork, {{size.name, far}});
      if (work_of(op, params) <= 4 * kFarWork) add_refusable(op, params, Tried::first_refused, cases);
    }
  }
  // In a row, or as an id, that lies far.
  for (const GeneratedRequest& kept : kept_cases(own_golden() / "kept.json", op))
    add_refusable(op, complete_params(op, kept.shape), Tried::refused, cases);
  return cases;
}

}  // namespace assay
