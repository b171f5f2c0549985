#include "harness/verdict/placements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <set>
#include <utility>

#include "harness/verdict/strided.h"
#include "reference/bounds.h"

namespace assay {
namespace {

constexpr double kVariedWork = 1 << 22;  // of all placements of a call at varied offsets together; of a few, of each
constexpr std::size_t kFewVaried = 4;
constexpr double kBothWork = 1 << 14;           // of a call that is tried after both kinds of other data
constexpr double kSometimesBothWork = 1 << 20;  // one in four, by its seed

// Which pairs of levels of two factors have not occurred yet.
class OpenPairs {
 public:
  explicit OpenPairs(std::span<const std::size_t> counts) : counts_(counts), levels_(std::ranges::max(counts)) {
    for (std::size_t f = 0; f < counts.size(); ++f) {
      for (std::size_t g = 0; g < f; ++g) left_ += counts[f] * counts[g];
    }
    open_.assign(counts.size() * counts.size() * levels_ * levels_, true);
  }
  bool any() const { return left_ > 0; }
  // How many open pairs `row` has whose later factor is `f`; factors before it count.
  std::size_t gained(const std::vector<std::size_t>& row, std::size_t f) const {
    std::size_t sum = 0;
    for (std::size_t g = 0; g < f; ++g) sum += open_[index(f, row[f], g, row[g])] ? 1 : 0;
    return sum;
  }
  void close(const std::vector<std::size_t>& row) {
    for (std::size_t f = 0; f < row.size(); ++f) {
      for (std::size_t g = 0; g < f; ++g) {
        const std::size_t at = index(f, row[f], g, row[g]);
        left_ -= open_[at] ? 1 : 0;
        open_[at] = false;
      }
    }
  }
  // Two factors, f after g, and their levels, of the first open pair.
  std::array<std::size_t, 4> first() const {
    for (std::size_t f = 0; f < counts_.size(); ++f) {
      for (std::size_t g = 0; g < f; ++g) {
        for (std::size_t i = 0; i < counts_[f]; ++i) {
          for (std::size_t j = 0; j < counts_[g]; ++j) {
            if (open_[index(f, i, g, j)]) return {f, i, g, j};
          }
        }
      }
    }
    return {};
  }

 private:
  std::size_t index(std::size_t f, std::size_t i, std::size_t g, std::size_t j) const {
    return ((f * counts_.size() + g) * levels_ + i) * levels_ + j;
  }
  std::span<const std::size_t> counts_;
  std::size_t levels_;
  std::size_t left_ = 0;
  std::vector<bool> open_;
};

}  // namespace

// Greedily: a row is built from an open pair, each further factor at the level that closes most; the rest is as it falls.
std::vector<std::vector<std::size_t>> pairwise(std::span<const std::size_t> counts) {
  if (counts.empty()) return {};
  std::vector<std::vector<std::size_t>> rows{std::vector<std::size_t>(counts.size(), 0)};
  if (counts.size() == 1) {
    for (std::size_t level = 1; level < counts[0]; ++level) rows.push_back({level});
    return rows;
  }
  OpenPairs open(counts);
  open.close(rows.front());
  while (open.any()) {
    const auto [f, i, g, j] = open.first();
    std::vector<std::size_t> row(counts.size(), 0);
    for (std::size_t factor = 0; factor < counts.size(); ++factor) {
      if (factor == f) row[factor] = i;
      if (factor == g) row[factor] = j;
      if (factor == f || factor == g) continue;
      std::size_t best = 0;
      std::size_t most = 0;
      for (std::size_t turn = 0; turn < counts[factor]; ++turn) {
        row[factor] = (turn + rows.size()) % counts[factor];  // of equals another each time
        const std::size_t gained = open.gained(row, factor);
        if (turn > 0 && gained <= most) continue;
        best = row[factor];
        most = gained;
      }
      row[factor] = best;
    }
    open.close(row);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::vector<std::size_t>> varied_offsets(std::span<const std::size_t> alignments, std::uint64_t seed) {
  std::vector<std::size_t> counts;
  for (const std::size_t alignment : alignments) {
    counts.push_back(alignment >= kOffsets ? 1 : static_cast<std::size_t>(std::countr_zero(kOffsets / alignment)) + 1);
  }
  // Of tensor t's level l, odd multiples of kOffsets >> l in turn; level 0 is offset 0.
  std::vector<std::vector<std::size_t>> next(counts.size());
  for (std::size_t t = 0; t < counts.size(); ++t) {
    for (std::size_t level = 0; level < counts[t]; ++level) next[t].push_back(split_mix(seed));
  }
  const auto take = [&next](std::size_t t, std::size_t level) {
    if (level == 0) return std::size_t{0};
    const std::size_t choices = std::size_t{1} << (level - 1);
    return (2 * (next[t][level]++ % choices) + 1) * (kOffsets >> level);
  };
  std::vector<std::vector<std::size_t>> rows;
  std::vector<std::set<std::size_t>> unseen(counts.size());
  for (std::size_t t = 0; t < counts.size(); ++t) {
    for (std::size_t offset = 0; offset < kOffsets; offset += alignments[t]) unseen[t].insert(offset);
  }
  const auto add = [&](std::vector<std::size_t> row) {
    for (std::size_t t = 0; t < row.size(); ++t) unseen[t].erase(row[t]);
    rows.push_back(std::move(row));
  };
  for (std::vector<std::size_t> levels : pairwise(counts)) {
    for (std::size_t t = 0; t < counts.size(); ++t) levels[t] = take(t, levels[t]);
    add(std::move(levels));
  }
  while (std::ranges::any_of(unseen, [](const auto& offsets) { return !offsets.empty(); })) {
    std::vector<std::size_t> row;
    for (std::size_t t = 0; t < counts.size(); ++t)
      row.push_back(unseen[t].empty() ? take(t, counts[t] - 1) : *unseen[t].begin());
    add(std::move(row));
  }
  return rows;
}

bool can_share(const TensorSpec& one, const TensorSpec& other) {
  if (one.dtype != other.dtype || one.alignment % other.alignment != 0 || one.elements() == 0) return false;
  const auto gapless = [](const TensorSpec& spec) { return spec.extent() == spec.elements(); };
  return (one.shape == other.shape && one.strides == other.strides) ||
         (gapless(one) && gapless(other) && one.elements() == other.elements());
}

std::vector<std::vector<std::size_t>> neighbours(std::size_t count) {
  if (count == 3) return {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const std::size_t even = count + count % 2;  // of an odd number with one more, which is then left out
  std::vector<std::vector<std::size_t>> orders(count < 2 ? 0 : even);
  for (std::size_t row = 0; row < orders.size(); ++row) {
    for (std::size_t i = 0; i < even; ++i) {  // row + 0, - 1, + 1, - 2 ...
      const std::size_t next = (row + (i % 2 == 0 ? i / 2 : even - (i + 1) / 2)) % even;
      if (next < count) orders[row].push_back(next);
    }
  }
  return orders;
}

namespace {

// Each right behind the one before, as far as alignments allow: the first begins where the gaps are smallest.
Placement one_behind_another(const std::vector<TensorSpec>& specs, const std::vector<std::size_t>& order) {
  Placement best;
  std::size_t least = SIZE_MAX;
  for (std::size_t start = 0; start < kOffsets; start += specs[order.front()].alignment) {
    Placement one{"", false, std::vector<std::size_t>(specs.size(), start), Poison::Kind::noise};
    std::size_t at = start;
    for (const std::size_t t : order) {
      const auto alignment = static_cast<std::int64_t>(specs[t].alignment);
      at = static_cast<std::size_t>(reference::ceil_div(static_cast<std::int64_t>(at), alignment) * alignment);
      one.name += (t == order.front() ? "" : ", ") + specs[t].name;
      if (t != order.front()) one.shared.push_back({t, order.front(), at - start});
      at += specs[t].extent_bytes();
    }
    if (at - start >= least) continue;
    least = at - start;
    best = std::move(one);
  }
  best.name += " one right behind the other";
  return best;
}

// Of all tensors that have memory of their own.
std::vector<Placement> touching(const std::vector<TensorSpec>& specs) {
  std::vector<std::size_t> tensors;
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (specs[t].elements() > 0 && !specs[t].in_place_only) tensors.push_back(t);
  }
  std::vector<Placement> all;
  for (std::vector<std::size_t>& order : neighbours(tensors.size())) {
    for (std::size_t& t : order) t = tensors[t];
    all.push_back(one_behind_another(specs, order));
  }
  return all;
}

bool lies_on(const TensorSpec& output, const TensorSpec& input) {
  return !output.in_place_only && std::ranges::find(output.aliases, input.name) != output.aliases.end();
}
std::size_t index_of(const std::vector<TensorSpec>& specs, const TensorSpec& one) {
  return static_cast<std::size_t>(&one - specs.data());
}

// Two inputs that hold the same in one place, two tensors whose rows take turns, and the output that may lie in place of the first.
void add_meant(const std::vector<TensorSpec>& specs, const std::vector<Array>& inputs, std::vector<Placement>& all) {
  for (std::size_t t = 0; t < specs.size(); ++t) {
    for (std::size_t on = 0; on < t; ++on) {
      const auto add = [&](const char* how, decltype(Placement::shared) shared) {
        all.push_back(
            {fmt::format(fmt::runtime(how), specs[t].name, specs[on].name), true, {}, Poison::Kind::noise, std::move(shared)});
        all.back().meant = true;
      };
      const auto aliased = std::ranges::find_if(specs, [&](const TensorSpec& spec) { return lies_on(spec, specs[on]); });
      const auto add_pair = [&](const char* how, const char* with_output, const Shared& pair) {
        add(how, {pair});
        if (aliased != specs.end() && t < inputs.size()) add(with_output, {pair, {index_of(specs, *aliased), on}});
      };
      const std::size_t first = all.size();
      if (t < inputs.size() && can_share(specs[on], specs[t]) && inputs[on].bytes == inputs[t].bytes)
        add_pair("{} in the memory of {}", "{} and the output in the memory of {}", {t, on});
      if (const auto behind = t < inputs.size() ? overlap_of(specs[on], inputs[on], specs[t], inputs[t]) : std::nullopt)
        add("{} begins in the rows of {}", {{t, on, *behind}});
      for (std::size_t i = first; i < all.size(); ++i) all[i].alike = true;
      if (specs[t].in_place_only) continue;
      if (const auto behind = turn_of(specs[on], specs[t]))
        add_pair("{} between the rows of {}", "{} between the rows of {}, and the output in their place", {t, on, *behind});
    }
  }
}

// At offsets of the seed's, and touching: as many as the work allows.
void add_varied(const std::vector<TensorSpec>& specs, double work, std::uint64_t seed, std::vector<Placement>& all) {
  constexpr Poison::Kind kKinds[] = {Poison::Kind::numbers, Poison::Kind::noise, Poison::Kind::nans};
  std::vector<std::size_t> alignments;
  for (const TensorSpec& spec : specs) alignments.push_back(spec.alignment);
  auto rows = varied_offsets(alignments, seed);
  rows.erase(rows.begin());  // all zeros: the front guard page
  std::vector<Placement> varied = touching(specs);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    varied.push_back({fmt::format("at offsets {} from a cache line", fmt::join(rows[r], ", ")), false, rows[r], kKinds[r % 3]});
  }
  while (static_cast<double>(varied.size()) * work > kVariedWork * (varied.size() > kFewVaried ? 1 : kFewVaried)) {
    std::swap(varied[split_mix(seed) % varied.size()], varied.back());
    varied.pop_back();
  }
  std::ranges::move(varied, std::back_inserter(all));
}

}  // namespace

std::vector<Placement> placements_of(const Signature& signature, const std::vector<Array>& inputs, double work,
                                     std::uint64_t seed) {
  std::vector<Placement> all{{"against the rear guard page", true, {}, Poison::Kind::nans},
                             {"against the front guard page", false, {}, Poison::Kind::numbers}};
  const std::vector<TensorSpec>& specs = signature.tensors;  // inputs first
  add_meant(specs, inputs, all);
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (specs[t].in_place_only) continue;
    for (const std::string& alias : specs[t].aliases) {
      const auto on = static_cast<std::size_t>(std::ranges::find(specs, alias, &TensorSpec::name) - specs.begin());
      all.push_back({specs[t].name + " in place of " + alias, true, {}, Poison::Kind::noise, {{t, on}}});
      all.back().in_place = true;
      for (std::size_t other = 0; other < inputs.size(); ++other) {
        const std::size_t behind = specs[on].extent_bytes();
        if (other == on || behind == 0 || behind % specs[other].alignment != 0 ||
            specs[on].alignment % specs[other].alignment != 0)
          continue;
        all.push_back(all.back());
        all.back().name = fmt::format("{} in place of {}, {} right behind it", specs[t].name, alias, specs[other].name);
        all.back().shared = {{t, on}, {other, on, behind}};
      }
    }
  }
  add_varied(specs, work, seed, all);
  // Last: who gives other bits here alone remembers; who does so because of the address has done it before.
  all.push_back({"where other data lay before", true, {}, Poison::Kind::numbers, {}, Before::moved});
  if (work <= kBothWork || (work <= kSometimesBothWork && split_mix(seed) % 4 == 0))
    all.push_back(
        {"where the same data lay before, but for one element", true, {}, Poison::Kind::numbers, {}, Before::one_changed});
  if (inputs.size() > 1 && work <= kBothWork && split_mix(seed) % 4 == 0)
    all.push_back({"where inputs lay before that change nothing", true, {}, Poison::Kind::numbers, {}, Before::neutral});
  return all;
}

}  // namespace assay
