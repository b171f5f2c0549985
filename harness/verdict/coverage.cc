#include "harness/verdict/coverage.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace assay {
namespace {

// What the wish is about; none: the parameter is not given.
std::optional<std::int64_t> measure(const Wish& wish, const Params& params) {
  if (wish.size->stride_of == nullptr) {
    return params.has(wish.param) ? std::optional(params.integer(wish.param)) : std::nullopt;
  }
  if (wish.size->without != nullptr && !params.has(wish.param)) return std::nullopt;  // it follows from another
  const std::int64_t dense = dense_stride(*wish.size, params);
  return params.integer_or(wish.param, dense) - dense;
}

bool granted(const Wish& wish, const Params& params) {
  if (wish.size == nullptr) {
    const auto found = params.values().find(wish.param);
    return found != params.values().end() && found->second == wish.value;
  }
  const auto value = measure(wish, params);
  return value && *value >= wish.least && *value <= wish.most && (*value - wish.least) % wish.step == 0;
}

// A value within the wish, drawn: of a size near the least, since it costs.
std::int64_t value_of(const Wish& wish, Draws& draws) {
  const std::int64_t most = wish.size->stride_of == nullptr ? 3 : kFarStride;
  const std::int64_t steps = std::min<std::int64_t>((wish.most - wish.least) / wish.step, most);
  return wish.least + wish.step * draws.below(static_cast<std::uint32_t>(steps + 1));
}

// A call that meets the requirement, otherwise drawn.
Params meeting(const Op& op, const Coverage& coverage, const Requirement& requirement, Draws& draws) {
  Params fixed;
  for (const Wish& wish : requirement.wishes) {
    if (wish.size == nullptr) fixed.set(wish.param, wish.value);
    if (wish.size != nullptr && wish.size->stride_of == nullptr) fixed.set(wish.param, value_of(wish, draws));
  }
  Params params = draw_params(op, coverage.space, draws, kRandomWork / 4, fixed);
  if (coverage.space.mend != nullptr) coverage.space.mend(params);
  set_strides(coverage.space, requirement.wishes, params, [&](const Wish& wish) { return value_of(wish, draws); });
  return params;
}

}  // namespace

void set_strides(const ShapeSpace& space, const std::vector<Wish>& wishes, Params& params,
                 const std::function<std::int64_t(const Wish&)>& value) {
  const auto excludes = [](const Size& one, const Size& other) {
    return one.without != nullptr && std::string_view(one.without) == other.name;
  };
  for (const Wish& wish : wishes) {
    if (wish.size == nullptr || wish.size->stride_of == nullptr) continue;
    for (const Size& other : space.sizes) {
      if (excludes(other, *wish.size) || excludes(*wish.size, other)) params.erase(other.name);
    }
    params.set(wish.param, dense_stride(*wish.size, params) + value(wish));
  }
}

bool Requirement::met(const Params& params) const {
  const auto shows = [&](const Size& size) {
    if (!size.in_every_call() || !params.has(size.name)) return true;
    return params.integer(size.name) >= std::max<std::int64_t>(1, size.cheap) ||
           std::ranges::find(wishes, size.name, &Wish::param) != wishes.end();
  };
  return std::ranges::all_of(wishes, [&](const Wish& wish) { return granted(wish, params); }) &&
         std::ranges::all_of(space->sizes, shows);
}

std::vector<std::string> Coverage::uncovered(const std::vector<Params>& calls) const {
  std::vector<std::string> missing;
  for (const Requirement& one : requirements) {
    if (!std::ranges::any_of(calls, [&](const Params& params) { return one.met(params); })) missing.push_back(one.what);
  }
  return missing;
}

std::vector<Params> covering_params(const Op& op, bool all) {
  const int tries = all ? 2 : 4;
  const Coverage coverage(op, all);
  std::vector<const Requirement*> open;
  for (const Requirement& one : coverage.requirements) open.push_back(&one);
  std::vector<Params> chosen;
  Draws draws(0);
  while (!open.empty()) {
    const Requirement& wanted = *open.front();
    const auto meets = [&](const Params& params) {
      return std::ranges::count_if(open, [&](const Requirement* r) { return r->met(params); });
    };
    Params best = wanted.cheapest;
    std::ptrdiff_t most = meets(best);
    for (int i = 0; i < tries; ++i) {
      Params params = meeting(op, coverage, wanted, draws);
      if (!wanted.met(params) || work_of(op, params) > wanted.work) continue;
      const std::ptrdiff_t met = meets(params);
      if (met <= most) continue;
      most = met;
      best = std::move(params);
    }
    std::erase_if(open, [&](const Requirement* r) { return r->met(best); });
    chosen.push_back(std::move(best));
  }
  return chosen;
}

}  // namespace assay
