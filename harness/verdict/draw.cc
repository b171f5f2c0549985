#include "harness/verdict/draw.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "golden/philox.h"

namespace assay {
namespace {

constexpr double kSearch = 300;  // operations a byte of an encoder that tries scales
constexpr double kByte = 16;     // of what is only laid out and compared
constexpr double kExp = 32;      // operations an exp
constexpr double kAnyWork = std::numeric_limits<double>::infinity();

// Beside a vector width, at a constant's border, a size in use, or anywhere: each as often.
std::int64_t draw_size(const Size& size, Draws& draws) {
  constexpr std::array<std::int64_t, 16> kEdges{1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129};
  std::int64_t value = draws.below(static_cast<std::uint32_t>(std::max<std::int64_t>(size.most, 1))) + 1;
  const std::uint32_t kind = draws.below(4);
  if (kind == 0) value = std::min(draws.of(kEdges), std::max(size.most, size.unit));
  if (kind == 1) {
    const std::uint32_t border = draws.below(static_cast<std::uint32_t>(size.borders.size() + kCounters.size()));
    value = (border < size.borders.size() ? size.borders[border].at() : kCounters[border - size.borders.size()]) +
            draws.below(18) - 1;
  }
  if (kind == 2) {
    const std::vector<std::int64_t> in_use = values_in_use(size.in_use);
    if (!in_use.empty()) value = draws.of(in_use);
  }
  return std::clamp(in_units(value, size), size.unit, std::max(size.limit, size.unit));
}

// Dense, beside it, or farther away than a panel is wide.
std::int64_t draw_stride(const Size& size, const Params& params, Draws& draws) {
  if (size.may_be_0 && draws.below(4) == 0) return 0;
  return dense_stride(size, params) + (draws.below(4) == 0 ? 1024 + draws.below(512) : draws.below(20));
}

// The least call that need not be mended costs more: every other size is its least, every choice and what may be left out the cheapest.
bool costs_more(const Op& op, const ShapeSpace& space, const Params& fixed, double most) {
  Params params;
  for (const Size& size : space.sizes) {
    if (size.stride_of == nullptr && !size.optional) params.set(size.name, size.unit);
  }
  for (const Choice& choice : space.choices) params.set(choice.name, choice.values.front());
  for (const auto& [name, value] : fixed.values()) params.set(name, value);
  double least = work_of(op, params);
  const auto try_with = [&](const char* name, const ParamValue& value) {
    if (least <= most || fixed.has(name)) return;
    Params other = params;
    other.set(name, value);
    const double work = work_of(op, other);
    if (work >= least) return;
    least = work;
    params = std::move(other);
  };
  for (const Choice& choice : space.choices) {
    for (const ParamValue& value : choice.values) try_with(choice.name, value);
  }
  for (const Size& size : space.sizes) {
    if (size.optional) try_with(size.name, size.unit);
    if (size.may_be_0) try_with(size.name, std::int64_t{0});
  }
  return least > most;
}

// Halves the largest of the sizes that are free until the call costs no more than it may.
void shrink(const Op& op, const ShapeSpace& space, const Params& fixed, double most, Params& params) {
  std::set<std::string_view> kept;  // mended back: another size asks for them
  while (most < kAnyWork && work_of(op, params, most) > most) {
    const Size* largest = nullptr;
    for (const Size& size : space.sizes) {
      if (size.stride_of != nullptr || fixed.has(size.name) || params.integer_or(size.name, 0) <= size.unit) continue;
      if (kept.contains(size.name)) continue;
      const auto units = [&](const Size& one) { return params.integer(one.name) / one.unit; };
      if (largest == nullptr || units(size) > units(*largest)) largest = &size;
    }
    if (largest == nullptr) return;
    const std::int64_t before = params.integer(largest->name);
    params.set(largest->name, in_units(before * 5 / 8, *largest));
    if (params.integer(largest->name) == before) params.set(largest->name, before - largest->unit);
    if (space.mend != nullptr) space.mend(params);
    if (params.integer(largest->name) >= before) kept.insert(largest->name);
  }
}

Params draw_once(const Op& op, const ShapeSpace& space, Draws& draws, double work, const Params& fixed) {
  Params params;
  for (const Size& size : space.sizes) {
    if (size.stride_of != nullptr) continue;
    if (!size.optional || draws.below(2) == 0) params.set(size.name, draw_size(size, draws));
  }
  for (const Choice& choice : space.choices) params.set(choice.name, draws.of(choice.values));
  for (const auto& [name, value] : fixed.values()) params.set(name, value);
  if (space.mend != nullptr && draws.below(8) != 0) space.mend(params);
  shrink(op, space, fixed, work, params);
  for (const Size& size : space.sizes) {
    const bool follows = size.without != nullptr && params.has(size.without);
    if (size.stride_of != nullptr && !follows && !fixed.has(size.name) && draws.below(2) == 0) {
      params.set(size.name, draw_stride(size, params, draws));
    }
  }
  return params;
}

}  // namespace

std::uint32_t Draws::below(std::uint32_t bound) {
  constexpr std::uint32_t kStream = 0xffffffff;
  return static_cast<std::uint32_t>((std::uint64_t{philox_block(seed_, kStream, next_++)[0]} * bound) >> 32);
}

double steps_of(const Cost& cost) {
  return cost.operations() + kExp * cost.exps;
}

double work_of(const Op& op, const Params& params, double enough) {
  try {
    const double steps = steps_of(cost_of(op, params));
    if (steps > enough) return steps;
    double bytes = 0;
    for (const TensorSpec& spec : signature_of(op, params).tensors) bytes += static_cast<double>(spec.extent_bytes());
    const bool searches = op.contract->exactness == reference::Exactness::encoded;
    return steps + (searches ? kSearch : kByte) * bytes;
  } catch (const std::invalid_argument&) {  // sizes that no call may have
    return std::numeric_limits<double>::infinity();
  }
}

std::int64_t dense_stride(const Size& stride, const Params& params) {
  return reference::ceil_div(params.integer(stride.stride_of), stride.unit);
}

Params sized(const ShapeSpace& space, const std::function<std::int64_t(const Size& size)>& value) {
  Params params;
  for (const Size& size : space.sizes) {
    if (size.in_every_call()) params.set(size.name, value(size));
  }
  for (const Choice& choice : space.choices) params.set(choice.name, choice.values.front());
  if (space.mend != nullptr) space.mend(params);
  return params;
}

Params with_long_rows(const Op& op, std::int64_t length, double work) {
  constexpr std::int64_t kElse = 8;
  const ShapeSpace space = op.family->shapes(op);
  for (const Size& one : space.sizes) {
    Params params = sized(space, [&](const Size& size) {
      return std::min(in_units(std::string_view(size.name) == one.name ? length : kElse, size), size.limit);
    });
    const auto long_row = [&](const TensorSpec& spec) {
      return spec.role != Direction::out && is_float(spec.dtype) && !spec.shape.empty() && spec.shape.back() >= length;
    };
    if (work_of(op, params) <= work && std::ranges::any_of(signature_of(op, params).tensors, long_row)) return params;
  }
  return {};
}

// A stride may carry a call past what any may have, or past its work. Where the least call costs too much already, draws are made, so that
// those after them are the same, but not shrunk.
Params draw_params(const Op& op, const ShapeSpace& space, Draws& draws, double work, const Params& fixed) {
  constexpr int kTries = 50;
  const bool hopeless = space.mend == nullptr && costs_more(op, space, fixed, 4 * work);
  for (int i = 0; i < kTries; ++i) {
    Params params = draw_once(op, space, draws, hopeless ? kAnyWork : work, fixed);
    if (!hopeless && work_of(op, params, 4 * work) <= 4 * work) return params;
  }
  return draw_once(op, space, draws, work, fixed);
}

}  // namespace assay
