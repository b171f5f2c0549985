// Calls that are there for their parts: each long size beside few and many of what can be cut.
#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "harness/verdict/draw.h"
#include "harness/verdict/vast.h"

namespace assay {
namespace {

constexpr double kGridWork = 1 << 24;   // with the bytes that are laid out
constexpr double kGridSteps = 1 << 20;  // without
constexpr std::int64_t kUsual = 16;
constexpr std::int64_t kMostFlat = 1 << 22;
constexpr std::int64_t kLongFlat = 1 << 24;  // past what a float counts
constexpr double kFlatWork = 1 << 30;
constexpr double kSearchedWork = 1 << 28;  // of an encoder
struct Prompt {
  std::int64_t tokens, width;
};
constexpr Prompt kPrompt{512, 4096};
constexpr Prompt kPrompts{1100, 2048};  // of several sequences
constexpr double kPromptWork = 1 << 29;
constexpr double kPromptSteps = 1 << 26;
constexpr std::size_t kMostOutput = 10 << 20;
constexpr std::int64_t kMostUnits = 63;  // parts of 1, 2, 4 .. 32 of them; of 3, 6 .. 24 and what is left
constexpr std::int64_t kLeastUnits = 7;
constexpr std::int64_t kLeastOctave = 16;

// Null: it cannot be cut.
const Split* split_of(const std::vector<Split>& splits, const Size& size) {
  const auto found = std::ranges::find(splits, std::string_view(size.name), &Split::param);
  return found == splits.end() ? nullptr : &*found;
}

// As many units of what can be cut as the work allows; false: too few.
bool fill(const Op& op, const ShapeSpace& space, const std::vector<Split>& splits, Params& params) {
  for (std::int64_t units = kMostUnits; units >= kLeastUnits; units /= 2) {
    for (const Size& size : space.sizes) {
      const Split* const split = split_of(splits, size);
      if (split != nullptr) params.set(size.name, std::min(size.limit, in_units(units * split->unit, size)));
    }
    if (space.mend != nullptr) space.mend(params);
    if (steps_of(cost_of(op, params)) <= kGridSteps && work_of(op, params) <= kGridWork) return true;
  }
  return false;
}

bool is_width(const Size& size) {
  return size.in_every_call() && !size.in_use.empty();
}
bool is_count(const Size& size) {
  return size.in_every_call() && size.in_use.empty();
}

// Into memory that repeats.
bool outputs_fit(const Op& op, const Params& params) {
  return std::ranges::none_of(signature_of(op, params).tensors, [](const TensorSpec& spec) {
    return spec.role == Direction::out && spec.extent_bytes() > kMostOutput;
  });
}

// Half of the largest width whose half costs less; false: there is none.
bool narrow(const Op& op, const ShapeSpace& space, Params& params) {
  std::vector<const Size*> widths;
  for (const Size& size : space.sizes) {
    if (is_width(size) && params.integer(size.name) > size.unit) widths.push_back(&size);
  }
  std::ranges::sort(widths, std::greater(), [&](const Size* size) { return params.integer(size->name); });
  for (const Size* const size : widths) {
    Params less = params;
    less.set(size->name, in_units(params.integer(size->name) / 2, *size));
    if (space.mend != nullptr) space.mend(less);
    if (work_of(op, less) >= work_of(op, params)) continue;
    params = std::move(less);
    return true;
  }
  return false;
}

// As many rows as a prompt has tokens, of models' widths as far as the work allows; none where the op has no rows.
std::optional<Params> prompt(const Op& op, const ShapeSpace& space, const Prompt& wanted, Params params) {
  if (!std::ranges::any_of(space.sizes, is_count)) return std::nullopt;
  for (const Size& size : space.sizes) {
    if (is_width(size)) params.set(size.name, std::min(size.limit, in_units(wanted.width, size)));
    if (is_count(size)) params.set(size.name, std::min(size.limit, in_units(wanted.tokens, size)));
  }
  if (space.mend != nullptr) space.mend(params);
  while (work_of(op, params) > kPromptWork || steps_of(cost_of(op, params)) > kPromptSteps || !outputs_fit(op, params)) {
    if (!narrow(op, space, params)) return std::nullopt;
  }
  return params;
}

}  // namespace

std::vector<Params> grid_params(const Op& op, bool any_length) {
  const ShapeSpace space = op.family->shapes(op);
  const Params usual = sized(space, [](const Size& size) {
    return std::max({std::min(size.fallback, kUsual * size.unit), size.unit, size.cheap});
  });
  const std::vector<Split> splits = signature_of(op, usual).splits;
  if (splits.empty()) return {};
  std::vector<Params> calls;
  if (space.sizes.size() == 1) {
    const Size& n = space.sizes.front();
    Params& flat = calls.emplace_back(Params{{n.name, in_units((any_length ? kLongFlat : kMostFlat) + 37, n)}});
    const double most = op.contract->exactness == reference::Exactness::encoded ? kSearchedWork : kFlatWork;
    while (work_of(op, flat) > most) flat.set(n.name, in_units(flat.integer(n.name) / 2, n));
  }
  const auto add_prompt = [&](const Prompt& wanted) {
    if (auto call = prompt(op, space, wanted, usual)) calls.push_back(std::move(*call));
  };
  add_prompt(kPrompt);
  if (std::ranges::count_if(space.sizes, is_width) == 1) add_prompt(kPrompts);
  for (const Size& size : space.sizes) {
    if (size.stride_of != nullptr || split_of(splits, size) != nullptr) continue;
    const std::vector<std::int64_t> in_use = values_in_use(size.in_use);
    const std::int64_t most = std::min(size.limit, std::max(2 * size.most, in_use.empty() ? 0 : in_use.back()));
    for (std::int64_t octave = kLeastOctave * size.unit; octave < most; octave *= 2) {
      const std::int64_t length = octave + octave / 4 + (calls.size() % 2 == 0 ? 0 : octave / 4 + 1);  // whole vectors, or a tail
      Params params = usual;
      params.set(size.name, std::min(most, in_units(length, size)));
      if (fill(op, space, splits, params)) calls.push_back(std::move(params));
    }
  }
  return calls;
}

}  // namespace assay
