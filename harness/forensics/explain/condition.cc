#include "harness/forensics/explain/condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/forensics/explain/hypothesis.h"

namespace assay::why {
namespace {

using I = std::int64_t;
using All = std::span<const Evidence* const>;

constexpr I kLanes = 16;
constexpr int kOneCost = 2;
constexpr int kTwoCost = 4;

class Atoms {
 public:
  Atoms(const Op& op, All yes) : space_(op.family->shapes(op)) {
    const Params& first = yes.front()->whole;
    for (const auto& [name, value] : first.values()) {
      if (const I* const size = std::get_if<I>(&value)) add_size(name, *size);
      if (const double* const real = std::get_if<double>(&value)) add_real(name, *real);
      if (const std::string* const choice = std::get_if<std::string>(&value)) add_choice(name, *choice);
    }
    add_strides(*yes.front());
    add_indices(*yes.front());
    add_contents(*yes.front());
  }
  std::vector<Condition>& all() { return all_; }

 private:
  const Size* size_of(const std::string& name) const {
    const auto found = std::ranges::find_if(space_.sizes, [&](const Size& one) { return one.name == name; });
    return found == space_.sizes.end() ? nullptr : &*found;
  }

  void add(const std::string& subject, const char* kind, std::string words, std::function<bool(I)> of) {
    all_.push_back({std::move(words), kind, subject, kOneCost, [subject, of = std::move(of)](const Evidence& one) {
                      return one.whole.has(subject) && of(one.whole.integer(subject));
                    }});
  }

  // Around the value that one case has: what holds there.
  void add_size(const std::string& name, I value) {
    const Size* const size = size_of(name);
    if (name.ends_with("_stride")) return;  // by its gap, below
    const I unit = size == nullptr ? 1 : size->unit;
    const std::vector<Border> borders = size == nullptr ? std::vector<Border>{} : size->borders;
    const bool border = std::ranges::any_of(
        borders, [&](const Border& one) { return value % std::max<I>(one.at(), 1) == 0 && value <= 3 * one.at(); });
    add(name, "count", fmt::format("{} is {}", name, value), [value](I v) { return v == value; });
    // A large one that is no border of the kernels is chance more likely than not.
    if (value > kLanes && !border) all_.back().cost = kTwoCost;
    add_remainders(name, value, unit);
    if (unit > 1 && unit < kLanes) add_remainders(name, value, 1);
    for (I least = kLanes * unit; least < (I{1} << 40); least *= 2) {
      if (value > least && value <= 2 * least)
        add(name, "octave", fmt::format("{} is {} to {}", name, least + 1, 2 * least),
            [=](I v) { return v > least && v <= 2 * least; });
    }
    add_thresholds(name, value, unit, size);
  }

  void add_remainders(const std::string& name, I value, I unit) {
    const I units = value / unit;
    const std::string counted = unit == 1 ? name : fmt::format("{} / {}", name, unit);
    for (const I step : {I{2}, I{4}, I{8}, kLanes, I{32}, I{64}}) {
      if (step == kLanes && units > step) {
        const I rest = units % step;
        add(name, "remainder", fmt::format("{} mod 16 is {}, past 16", counted, rest),
            [=](I v) { return v / unit > step && v / unit % step == rest; });
      }
      const bool whole = units % step == 0;
      add(name, "remainder", fmt::format("{} is {}multiple of {}", counted, whole ? "a " : "no ", step),
          [=](I v) { return (v / unit % step == 0) == whole; });
    }
  }

  void add_thresholds(const std::string& name, I value, I unit, const Size* size) {
    std::set<I> edges;
    for (I edge = unit; edge < (I{1} << 32); edge *= 2) edges.insert(edge);
    edges.insert({0, 96});
    for (const Border& border : size == nullptr ? std::vector<Border>{} : size->borders) {
      for (const I times : {1, 2, 3}) {
        const I edge = border.at() * times / unit * unit;
        edges.insert(edge);
        if (value > edge && value <= edge + kLanes * unit)
          add(name, "border", fmt::format("{} is {} to {}", name, edge + 1, edge + kLanes * unit),
              [=](I v) { return v > edge && v <= edge + kLanes * unit; });
      }
    }
    for (const I edge : edges) {
      if (value > edge) {
        add(name, "threshold", fmt::format("{} is above {}", name, edge), [=](I v) { return v > edge; });
      } else {
        add(name, "threshold", fmt::format("{} is at most {}", name, edge), [=](I v) { return v <= edge; });
      }
    }
  }

  // A power of ten that it reaches, and the next that it does not.
  void add_real(const std::string& name, double value) {
    if (value <= 0 || !std::isfinite(value)) return;
    const double reached = std::pow(10, std::floor(std::log10(value)));
    const auto add_range = [&](std::string words, auto holds) {
      all_.push_back({std::move(words), "threshold", name, kOneCost,
                      [name, holds](const Evidence& one) { return one.whole.has(name) && holds(one.whole.real(name)); }});
    };
    add_range(fmt::format("{} is {:g} or more", name, reached), [=](double v) { return v >= reached; });
    add_range(fmt::format("{} is below {:g}", name, 10 * reached), [=](double v) { return v < 10 * reached; });
  }

  void add_choice(const std::string& name, const std::string& value) {
    all_.push_back({fmt::format("{} is '{}'", name, value), "choice", name, kOneCost,
                    [=](const Evidence& one) { return one.whole.has(name) && one.whole.text(name) == value; }});
  }

  // The gap behind each row of an axis, where there are rows.
  static std::optional<I> gap_of(const Evidence& one, const std::string& tensor, std::size_t axis) {
    for (const TensorSpec& spec : one.call->signature.tensors) {
      if (spec.name != tensor || axis + 1 >= spec.shape.size() || spec.shape[axis] < 2) continue;
      return spec.strides[axis] - spec.shape[axis + 1] * spec.strides[axis + 1];
    }
    return std::nullopt;
  }

  void add_strides(const Evidence& first) {
    struct Range {
      const char* words;
      I least, most;
    };
    static constexpr Range kRanges[] = {{"rows of {} lie without gaps, by axis {}", 0, 0},
                                        {"rows of {} have gaps, by axis {}", 1, INT64_MAX},
                                        {"rows of {} have gaps of 1 to 15, by axis {}", 1, 15},
                                        {"rows of {} have gaps of 16 to 1023, by axis {}", 16, 1023},
                                        {"rows of {} have gaps of 1024 and more, by axis {}", 1024, INT64_MAX}};
    for (const TensorSpec& spec : first.call->signature.tensors) {
      for (std::size_t axis = 0; axis + 1 < spec.shape.size(); ++axis) {
        for (const Range& range : kRanges) {
          all_.push_back({fmt::format(fmt::runtime(range.words), spec.name, axis), "stride", spec.name, kOneCost,
                          [name = spec.name, axis, &range](const Evidence& one) {
                            const auto gap = gap_of(one, name, axis);
                            return gap && *gap >= range.least && *gap <= range.most;
                          }});
        }
      }
    }
  }

  // An index of an array, or that is the result, between two powers of two.
  void add_indices(const Evidence& first) {
    std::size_t input = 0;
    std::size_t output = 0;
    for (const TensorSpec& spec : first.call->signature.tensors) {
      const bool in = spec.role == Direction::in;
      const std::size_t at = in ? input++ : output++;
      if (spec.dtype != DType::i32) continue;
      for (int bit = 4; bit < 24; ++bit) {
        all_.push_back({fmt::format("{} has one from {} to {}", spec.name, (1 << bit) + 1, (2 << bit) - 1), "index", spec.name,
                        kOneCost, [in, at, bit](const Evidence& one) {
                          const std::vector<std::uint8_t>& bytes = in ? one.call->inputs[at].bytes : one.call->expected[at].bytes;
                          const auto* const values = reinterpret_cast<const std::int32_t*>(bytes.data());
                          return std::any_of(values, values + bytes.size() / 4,
                                             [bit](std::int32_t v) { return v > 1 << bit && v < 2 << bit; });
                        }});
      }
    }
  }

  // What an input holds, or does not.
  void add_contents(const Evidence& first) {
    const auto specs = first.inputs();
    for (std::size_t input = 0; input < specs.size(); ++input) {
      for (int bit = 0; bit < 64; ++bit) {
        const bool has = (first.contents[input] >> bit & 1) != 0;
        std::string words = contents_words(*specs[input], bit, !has);
        if (words.empty()) continue;
        all_.push_back({std::move(words), "contents", specs[input]->name, kOneCost, [input, bit, has](const Evidence& one) {
                          return input < one.contents.size() && ((one.contents[input] >> bit & 1) != 0) == has;
                        }});
      }
    }
  }

  const ShapeSpace space_;
  std::vector<Condition> all_;
};

// Which cases a condition holds in, as text to compare.
std::string pattern_of(const Condition& one, All cases) {
  std::string pattern;
  for (const Evidence* evidence : cases) pattern += one.holds(*evidence) ? '1' : '0';
  return pattern;
}

Condition both(const Condition& one, const Condition& other) {
  return {fmt::format("{} and {}", one.words, other.words), "two", fmt::format("{} {}", one.subject, other.subject), kTwoCost,
          [a = one.holds, b = other.holds](const Evidence& evidence) { return a(evidence) && b(evidence); }};
}

}  // namespace

std::vector<Condition> conditions_between(const Op& op, All yes, All no, std::size_t most) {
  std::vector<Condition> found;
  std::vector<std::pair<Condition, std::string>> partial;  // hold in all of `yes`; where they hold in `no`
  std::set<std::string> seen;
  Atoms atoms(op, yes);
  for (Condition& one : atoms.all()) {
    if (!std::ranges::all_of(yes, [&](const Evidence* evidence) { return one.holds(*evidence); })) continue;
    std::string pattern = pattern_of(one, no);
    if (!seen.insert(one.kind + one.subject + pattern).second) continue;  // the same of the same size, in other words
    if (pattern.find('1') == std::string::npos) {
      found.push_back(std::move(one));
    } else if (pattern.find('0') != std::string::npos) {
      partial.emplace_back(std::move(one), std::move(pattern));
    }
  }
  const auto cheapest = std::ranges::min_element(found, {}, &Condition::cost);
  if (cheapest != found.end()) std::erase_if(found, [least = cheapest->cost](const Condition& one) { return one.cost > least; });
  for (std::size_t a = 0; found.empty() && a < partial.size(); ++a) {
    for (std::size_t b = a + 1; b < partial.size(); ++b) {
      const auto& [one, in_one] = partial[a];
      const auto& [other, in_other] = partial[b];
      bool apart = one.subject != other.subject;
      for (std::size_t i = 0; apart && i < in_one.size(); ++i) apart = in_one[i] == '0' || in_other[i] == '0';
      if (apart) found.push_back(both(one, other));
    }
    if (found.size() > most) break;
  }
  if (found.size() > most) found.resize(most);
  return found;
}

}  // namespace assay::why
