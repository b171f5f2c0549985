#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "harness/forensics/explain/hypothesis.h"

namespace assay::why {
namespace {

struct LawRow {
  std::string_view family;
  Law law;
  std::string_view text;
};
constexpr LawRow kLaws[] = {
#define ASSAY_LAW(family, law, text) {#family, Law::law, text},
#include "harness/forensics/explain/laws.inc"
#undef ASSAY_LAW
};

// Whether a size, in units of what an axis counts, is the axis' length.
bool counts_axis(std::int64_t value, std::int64_t length, DType dtype) {
  if (value == length) return true;
  const std::int64_t numbers = dtype_numbers(dtype);
  if (numbers > 1 && value % numbers == 0 && value / numbers == length) return true;
  return reference::ceil_div(value, kTileRows) == length ||
         (is_packed(dtype) && reference::ceil_div(value, kPackedRows) == length);
}

const TensorSpec* tensor_of(const Evidence& one, std::string_view name) {
  const auto found = std::ranges::find(one.call->signature.tensors, name, &TensorSpec::name);
  return found == one.call->signature.tensors.end() ? nullptr : &*found;
}

// Silent of calls that lack an input of the first case's: hypotheses know inputs by their number.
void need_inputs(Cases cases, std::span<Hypothesis> hypotheses) {
  std::vector<std::string> names;
  for (const TensorSpec* const spec : cases.front().inputs()) names.push_back(spec->name);
  const auto has_them = [names](const Evidence& one) {
    const auto inputs = one.inputs();
    return inputs.size() >= names.size() && std::ranges::equal(names, std::span(inputs).first(names.size()), {}, {},
                                                               [](const TensorSpec* spec) { return spec->name; });
  };
  if (std::ranges::all_of(cases, has_them)) return;
  for (Hypothesis& one : hypotheses) {
    one.predict = [has_them, predict = std::move(one.predict)](const Evidence& of) {
      return has_them(of) ? predict(of) : std::nullopt;
    };
  }
}

}  // namespace

std::string_view law_of(const Op& op, Law law) {
  for (const LawRow& row : kLaws) {
    if (row.law == law && row.family == op.family->name) return row.text;
  }
  throw std::logic_error(fmt::format("laws.inc has no row for {}", op.family->name));
}

std::string axis_name(Cases cases, std::string_view tensor, std::size_t axis) {
  const TensorSpec* const first = tensor_of(cases.front(), tensor);
  std::vector<std::string> names;
  for (const auto& [name, value] : cases.front().whole.values()) {
    if (std::holds_alternative<std::int64_t>(value)) names.push_back(name);
  }
  for (const bool whole : {true, false}) {  // a size itself before what is counted in tiles
    for (const std::string& name : names) {
      const bool fits = std::ranges::all_of(cases, [&](const Evidence& one) {
        const TensorSpec* const spec = tensor_of(one, tensor);
        if (spec == nullptr || axis >= spec->shape.size()) return true;
        const std::int64_t value = one.whole.integer_or(name, -1);
        return whole ? value == spec->shape[axis] : value >= 0 && counts_axis(value, spec->shape[axis], spec->dtype);
      });
      if (fits) return name;
    }
  }
  const bool innermost = axis + 1 == first->shape.size();
  return innermost ? "the innermost axis" : fmt::format("axis {}", axis);
}

Hypotheses catalogue(const Op& op, Cases cases) {
  static constexpr std::array kParts{add_formulas,  add_rotations,  add_params,   add_sizes,   add_inputs,
                                     add_strides,   add_blocks,     add_results,  add_factors, add_left,
                                     add_roundings, add_quantisers, add_declared, add_places};
  static constexpr std::array kByInput{add_formulas, add_rotations, add_inputs, add_strides, add_blocks, add_places};
  Hypotheses all;
  // What blocks of free bytes decode to is held to an error alone, which of another source says nothing.
  const bool free_bytes = op.contract->exactness == reference::Exactness::encoded;
  for (const auto add : kParts) {
    const std::size_t before = all.size();
    if (!free_bytes || add == add_left || add == add_places) add(op, cases, all);
    if (std::ranges::find(kByInput, add) != kByInput.end()) need_inputs(cases, std::span(all).subspan(before));
  }
  std::ranges::stable_sort(all, {}, &Hypothesis::cost);
  return all;
}

}  // namespace assay::why
