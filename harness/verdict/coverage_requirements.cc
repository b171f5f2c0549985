// What an op's cases must have among them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>
#include <utility>

#include "harness/verdict/coverage.h"

namespace assay {
namespace {

constexpr std::int64_t kPast = 16;                    // past a constant: by at most so many units
constexpr std::int64_t kPastCounter = 4 * kPast - 5;  // past what a counter holds: a pair of vectors, and more than one
constexpr std::int64_t kLong = 1025;
constexpr std::int64_t kManyRows = 129;
constexpr std::int64_t kRemainders = 16;  // by the lanes of a vector, and by the rows of a packed block
constexpr std::int64_t kGap = 8;
constexpr std::int64_t kMostOctave = 1 << 17;
constexpr std::int64_t kVocabulary = 40000;  // from there on, of an op that has no other width
constexpr std::int64_t kDense = 64;          // of an op with one size, from here to four times that, one of so many lengths
constexpr std::int64_t kDenseStep = 8;

std::int64_t round_down(std::int64_t value, std::int64_t unit) {
  return value / unit * unit;
}

std::string text_of(const Border& border) {
  return border.is_counter() ? fmt::format("{}", border.at()) : fmt::format("{} ({})", border.at(), border.constant);
}

// The constants by which an op's kernels choose their path, and where counters of 8 and 16 bits end, of numbers and of units.
std::vector<Border> borders_of(const Size& size) {
  std::vector<Border> all = size.borders;
  for (const std::int64_t counter : kCounters) {
    all.push_back({"", counter});
    if (size.unit > 1 && counter * size.unit <= std::int64_t{1} << 17) all.push_back({"", counter, size.unit});
  }
  std::erase_if(all, [&](const Border& border) { return round_down(border.at(), size.unit) == 0 || border.at() > size.limit; });
  return all;
}

// From there on a size is long, where two are to be: as half of the models have it, if that is not too long to be tried in pairs.
std::int64_t long_from(const Size& size) {
  const std::vector<std::int64_t> in_use = values_in_use(size.in_use);
  std::int64_t from = in_use.empty() ? kManyRows : std::min(kLong, in_use[in_use.size() / 2]);
  for (const Border& border : size.borders) from = std::max(from, std::min(border.at(), 4 * size.most));
  return std::min(in_units(from, size), size.limit);
}

class Maker {
 public:
  Maker(const Op& op, bool all, Coverage& to) : op_(op), space_(to.space), all_(all), to_(to) {}

  void make() {
    for (const Size& size : space_.sizes) size.stride_of != nullptr ? stride(size) : single(size);
    for (const Choice& choice : space_.choices) {
      for (const ParamValue& value : choice.values)
        add({{.param = choice.name, .value = value}}, choice_text(choice.name, value), kSingleWork);
    }
    if (space_.choices.size() == 2) choices(space_.choices[0], space_.choices[1]);
    for (std::size_t a = 0; a < space_.sizes.size(); ++a) {
      for (std::size_t b = a + 1; b < space_.sizes.size(); ++b) pair(space_.sizes[a], space_.sizes[b]);
    }
    whole(0, 0);
    whole(2 * kRemainders + 1, kFarStride - 1);
    gaps_alike();
    for (const std::int64_t side : {2 * kRemainders, kRemainders * kRemainders}) square(side);
    one_left();
    for (const Params& call : space_.together) together(call);
  }

 private:
  static std::string choice_text(const char* name, ParamValue value) {
    Params one;
    one.set(name, std::move(value));
    return one.to_string();
  }
  static Wish range(const Size& size, std::int64_t least, std::int64_t most, std::int64_t step = 1) {
    return {size.name, least, most, std::max(step, size.stride_of != nullptr ? 1 : size.unit), {}, &size};
  }
  static Wish past(const Size& size, const Border& border) {
    const std::int64_t by = border.is_counter() ? kPastCounter : 0;
    const std::int64_t first = round_down(border.at(), size.unit) + (by + 1) * size.unit;
    return range(size, first, std::min(first + (kPast - 1) * size.unit, size.limit));
  }

  // Too dear where the cheapest call that meets it costs too much; left out where a size would be larger than it may be.
  void add(std::vector<Wish> wishes, std::string what, double work) {
    Params cheapest;
    for (const Size& size : space_.sizes) {
      if (size.in_every_call()) cheapest.set(size.name, std::max(size.unit, size.cheap));
    }
    for (const Choice& choice : space_.choices) cheapest.set(choice.name, choice.values.front());
    for (const Wish& wish : wishes) {
      if (wish.size != nullptr && (wish.least > wish.most || wish.most > wish.size->limit)) return;
      if (wish.size == nullptr) cheapest.set(wish.param, wish.value);
      if (wish.size != nullptr && wish.size->stride_of == nullptr) cheapest.set(wish.param, wish.least);
    }
    if (space_.mend != nullptr) space_.mend(cheapest);
    set_strides(space_, wishes, cheapest, [](const Wish& wish) { return wish.least; });
    const double needed = work_of(op_, cheapest);
    if (!std::isfinite(needed)) return;  // the op does not allow it
    if (work == kLaidWork && 16 * steps_of(cost_of(op_, cheapest)) > needed) work = kShareWork;
    Requirement made{std::move(what), std::move(wishes), cheapest, all_ ? kLongWork : work, &space_};
    if (made.met(cheapest)) (needed <= made.work ? to_.requirements : to_.too_dear).push_back(std::move(made));
  }

  void single(const Size& size) {
    const std::vector<std::int64_t> in_use = values_in_use(size.in_use);
    const auto first = static_cast<std::size_t>(std::ranges::find(ops(), &op_) - ops().begin());
    for (std::size_t i = 0; i < in_use.size(); ++i) {
      const bool last = i + 1 == in_use.size();
      if (!all_ && !last && (first + i) % kSharers != 0) continue;
      const std::int64_t value = in_units(in_use[i], size);
      add({range(size, value, value)}, fmt::format("{} = {}, in use", size.name, value), last ? kSingleWork : kShareWork);
    }
    for (const Border& border : borders_of(size)) {
      const std::int64_t at = round_down(border.at(), size.unit);
      if (!border.is_counter()) add({range(size, at, at)}, fmt::format("{} up to {}", size.name, text_of(border)), kSingleWork);
      add({past(size, border)}, fmt::format("{} past {}", size.name, text_of(border)), kSingleWork);
      if (!border.is_counter()) multiples(size, border);
    }
    for (std::int64_t few = 0; few <= kRemainders; ++few)
      add({range(size, few * size.unit, few * size.unit)}, fmt::format("{} = {}", size.name, few * size.unit), kPairWork);
    const bool only_one = size.unit == 1 && std::ranges::count_if(space_.sizes, &Size::in_every_call) == 1;
    for (std::int64_t from = kDense; only_one && from < 4 * kDense; from += kDenseStep) {
      const std::int64_t to = from + kDenseStep - 1;
      add({range(size, from, to)}, fmt::format("{} from {} to {}", size.name, from, to), kSingleWork);
    }
    for (std::int64_t from = kRemainders * size.unit; from < kMostOctave && 2 * from <= size.limit; from *= 2) {
      const std::int64_t least = from + from / 4 / size.unit * size.unit;
      const bool shared = (first + static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(from)))) % kSharers == 0;
      add({range(size, least, 2 * from)}, fmt::format("{} from {} to {}", size.name, least, 2 * from),
          shared ? kSingleWork : kLaidWork);
    }
    const std::int64_t period = kRemainders * size.unit;
    const bool only_width =
        std::ranges::count_if(space_.sizes, [](const Size& one) { return one.in_every_call() && !one.in_use.empty(); }) == 1;
    for (std::int64_t r = 0; r < kRemainders; ++r) {
      add({range(size, period + r * size.unit, std::min(size.limit, std::int64_t{1} << 20), period)},
          fmt::format("{} of whole units, {} mod 16", size.name, r), kSingleWork);
      if (only_width && std::ranges::find(size.in_use, Column::vocab) != size.in_use.end())
        add({range(size, kVocabulary + r, 2 * kVocabulary, period)},
            fmt::format("{} past {}, {} mod 16", size.name, kVocabulary, r), kSingleWork);
    }
  }

  // Of a constant: where the second chunk ends, and the third.
  void multiples(const Size& size, const Border& border) {
    for (const std::int64_t times : {2, 3}) {
      const Border multiple{border.constant, times * border.value, border.scale};
      const std::int64_t at = round_down(multiple.at(), size.unit);
      add({range(size, at, at)}, fmt::format("{} up to {} x {}", size.name, times, text_of(border)), kLaidWork);
      add({past(size, multiple)}, fmt::format("{} past {} x {}", size.name, times, text_of(border)), kLaidWork);
    }
  }

  void stride(const Size& size) {
    add({range(size, 0, 0)}, fmt::format("{} dense", size.name), kSingleWork);
    add({range(size, 1, 15)}, fmt::format("{} beside dense", size.name), kSingleWork);
    add({range(size, 16, kFarStride - 1)}, fmt::format("{} past a vector from dense", size.name), kSingleWork);
    if (size.may_be_0)
      add({{.param = size.name, .value = std::int64_t{0}}}, fmt::format("{} = 0, one row for all", size.name), kSingleWork);
    if (size.without != nullptr) return;  // the other is tried there
    add({range(size, kFarStride, 1 << 20)}, fmt::format("{} far from dense", size.name), kSingleWork);
  }

  void pair(const Size& a, const Size& b) {
    if (a.stride_of != nullptr || b.stride_of != nullptr) return;
    const auto few = [](const Size& size) { return range(size, size.unit, std::min(kPast * size.unit, size.limit)); };
    const auto many = [](const Size& size) { return range(size, long_from(size), size.limit); };
    add({few(a), few(b)}, fmt::format("{} short, {} short", a.name, b.name), kPairWork);
    add({many(a), few(b)}, fmt::format("{} long, {} short", a.name, b.name), kPairWork);
    add({few(a), many(b)}, fmt::format("{} short, {} long", a.name, b.name), kPairWork);
    add({many(a), many(b)}, fmt::format("{} long, {} long", a.name, b.name), kLongPairWork);
    for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      for (const Border& border : one->borders) {
        add({past(*one, border), range(*other, (kPast + 1) * other->unit, 3 * kPast * other->unit)},
            fmt::format("{} past {} with more than a vector of {}", one->name, text_of(border), other->name), kLaidWork);
      }
    }
    for (const Border& of_a : a.borders) {
      for (const Border& of_b : b.borders) {
        add({past(a, of_a), past(b, of_b)},
            fmt::format("{} past {} with {} past {}", a.name, text_of(of_a), b.name, text_of(of_b)), kPairWork);
      }
    }
  }

  void choices(const Choice& a, const Choice& b) {
    for (const ParamValue& one : a.values) {
      for (const ParamValue& other : b.values) {
        add({{.param = a.name, .value = one}, {.param = b.name, .value = other}},
            choice_text(a.name, one) + " with " + choice_text(b.name, other), kPairWork);
      }
    }
  }

  // No tail anywhere: where kernels for whole vectors and tiles alone are chosen.
  void whole(std::int64_t least_gap, std::int64_t most_gap) {
    std::vector<Wish> wishes;
    for (const Size& size : space_.sizes) {
      const std::int64_t units = std::min(size.limit, (size.most > kPast * size.unit ? 4 * kRemainders : 2) * size.unit);
      if (size.stride_of != nullptr && size.without == nullptr) wishes.push_back(range(size, least_gap, most_gap));
      if (size.in_every_call()) wishes.push_back(range(size, units, std::min(size.limit, 16 * units), units));
    }
    add(std::move(wishes), fmt::format("whole vectors everywhere, gaps from {} on", least_gap), kSingleWork);
  }
  // Rows of all tensors as far apart, and of each choice of them where the others' are dense.
  void gaps_alike() {
    std::vector<const Size*> strides;
    for (const Size& size : space_.sizes)
      if (size.stride_of != nullptr && size.without == nullptr) strides.push_back(&size);
    if (strides.size() < 2) return;
    for (std::size_t chosen = 1; chosen < std::size_t{1} << strides.size(); ++chosen) {
      std::vector<Wish> wishes;
      std::string with;
      for (const Size& size : space_.sizes) {
        const std::int64_t few = std::min(size.limit, 3 * size.unit);
        if (size.in_every_call()) wishes.push_back(range(size, few, few));
      }
      for (std::size_t i = 0; i < strides.size(); ++i) {
        const bool gap = ((chosen >> i) & 1) != 0;
        wishes.push_back(range(*strides[i], gap ? kGap : 0, gap ? kGap : 0));
        if (gap) with += fmt::format("{}{}", with.empty() ? "" : ", ", strides[i]->name);
      }
      add(std::move(wishes), fmt::format("gaps of {} by {} alone", kGap, with), kSingleWork);
    }
  }
  // Every size alike, in whole units.
  void square(std::int64_t side) {
    std::vector<Wish> wishes;
    for (const Size& size : space_.sizes) {
      const std::int64_t value = in_units(side, size);
      if (size.in_every_call() && value <= size.limit) wishes.push_back(range(size, value, value));
    }
    add(std::move(wishes), fmt::format("every size {}", side), kSingleWork);
  }
  // One past whole registers, tiles and blocks everywhere, as every kernel counts them: by two, three and four, by 32 and by 64.
  void one_left() {
    std::vector<Wish> wishes;
    for (const Size& size : space_.sizes) {
      const std::int64_t units = size.in_use.empty() ? 13 : size.unit > 1 ? 5 : size.most > 130 ? 65 : 33;
      const std::int64_t value = std::min(units * size.unit, size.limit);
      if (size.in_every_call()) wishes.push_back(range(size, value, value));
    }
    add(std::move(wishes), "one left everywhere", kSingleWork);
  }
  void together(const Params& call) {
    std::vector<Wish> wishes;
    for (const auto& [name, value] : call.values()) wishes.push_back({.param = name, .value = value});
    add(std::move(wishes), call.to_string(), kSingleWork);
  }

  // Sizes in use are many: neighbouring ops, which share their loops, share them, and the costly ones are left to ci/long.
  static constexpr std::size_t kSharers = 8;
  static constexpr double kShareWork = 1 << 22;
  // Of calls whose bytes are laid out and compared, rather than computed with: they take less than their work says.
  static constexpr double kLaidWork = 2 * kPairWork;
  static constexpr double kLongPairWork = 2 * kSingleWork;  // what models ask for
  const Op& op_;
  const ShapeSpace& space_;
  bool all_;
  Coverage& to_;
};

}  // namespace

Coverage::Coverage(const Op& op, bool all) : space(op.family->shapes(op)) {
  Maker(op, all, *this).make();
}

}  // namespace assay
