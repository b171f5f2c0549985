// What attention's values ask for: a window, chunks or a prefix, other kv heads, a scale, ALiBi, a cap, a sink, a mask that hides too little, a narrow softmax.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "harness/forensics/audit/explain.h"

namespace assay::explanation {
namespace {

constexpr Eigen::Index kRows = 4;  // that a number is found by; all are then held to it

// Some rows of the call, with what the trace has for them.
struct Part {
  SiteCall call;
  RowMatrix value;
};

Part rows_of(const Tries& tries, Eigen::Index first, Eigen::Index count) {
  std::vector<Eigen::Index> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), first);
  return {call_of_rows(tries.site().call, rows, tries.value().rows()), tries.value().middleRows(first, count)};
}

Part first_rows(const Tries& tries, Eigen::Index most = kRows) {
  return rows_of(tries, 0, std::min({kRows, most, tries.value().rows()}));
}

Part last_rows(const Tries& tries, Eigen::Index most = kRows) {
  const Eigen::Index count = std::min(most, tries.value().rows());
  return rows_of(tries, tries.value().rows() - count, count);
}

double squared_error(const Tries& tries, const Part& part) {
  const double error = (evaluate(part.call, tries.site().recipe, tries.site().team).value - part.value).squaredNorm();
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

// Where `setting` makes the error least: steps of a sixteenth of an octave, then golden sections.
double best(const Tries& tries, Part part, double SiteCall::*setting, double low, double high) {
  const auto error = [&](double log) {
    part.call.*setting = std::exp2(log);
    return squared_error(tries, part);
  };
  constexpr double kStep = 1.0 / 16;
  constexpr double kGolden = 0.61803398874989485;
  double at = std::log2(low);
  double least = std::numeric_limits<double>::infinity();
  for (double log = std::log2(low); log <= std::log2(high); log += kStep) {
    const double here = error(log);
    if (here >= least) continue;
    least = here;
    at = log;
  }
  double left = at - kStep;
  double right = at + kStep;
  double lower = right - kGolden * (right - left);
  double upper = left + kGolden * (right - left);
  double at_lower = error(lower);
  double at_upper = error(upper);
  for (int step = 0; step < 50; ++step) {
    if (at_lower < at_upper) {
      right = std::exchange(upper, lower);
      at_upper = at_lower;
      lower = right - kGolden * (right - left);
      at_lower = error(lower);
    } else {
      left = std::exchange(lower, upper);
      at_lower = at_upper;
      upper = left + kGolden * (right - left);
      at_upper = error(upper);
    }
  }
  return std::exp2((left + right) / 2);
}

// A number of keys from 1 on, and what it hides or shows: looked for with the last row, or the first, then tried with all.
struct Hiding {
  std::int64_t SiteCall::*setting;
  std::int64_t most;  // 0: as many as there are
  bool by_first;
  const char* format;
};
constexpr Hiding kHidings[] = {{&SiteCall::window, 0, false, "a window of {} positions"},
                               {&SiteCall::first_key, 16, false, "keys before position {} hidden"},
                               {&SiteCall::chunk, 0, false, "chunks of {} positions, which do not see each other"},
                               {&SiteCall::prefix, 0, true, "a prefix of {} positions that all see one another"}};

void try_hidden_keys(Tries& tries) {
  for (const Hiding& one : kHidings) {
    Part part = one.by_first ? first_rows(tries, 1) : last_rows(tries, 1);
    const std::int64_t end = one.by_first ? part.call.inputs[1].rows() : part.call.positions.front();
    for (std::int64_t count = 1; count <= (one.most > 0 ? std::min(one.most, end) : end); ++count) {
      part.call.*one.setting = count;
      const Truth truth = evaluate(part.call, tries.site().recipe, tries.site().team);
      if (excess_of(part.value, truth).ratio > 1) continue;
      if (tries.attempt(fmt::format(fmt::runtime(one.format), count), [&](SiteCall& call) { call.*one.setting = count; })) return;
    }
  }
}

// Each head by itself: the kv head that its values are right with.
void try_kv_heads(Tries& tries) {
  const SiteCall& own = tries.site().call;
  const Eigen::Index d = tries.value().cols() / own.heads;
  std::vector<std::int64_t> read(static_cast<std::size_t>(own.heads), -1);
  for (std::int64_t kv = 0; kv < own.kv_heads; ++kv) {
    const Truth truth = tries.truth_with([&](SiteCall& call) { call.kv_of.assign(static_cast<std::size_t>(own.heads), kv); });
    for (Eigen::Index head = 0; head < own.heads; ++head) {
      const Truth part{truth.value.middleCols(head * d, d), truth.bound.middleCols(head * d, d)};
      if (excess_of(tries.value().middleCols(head * d, d), part).ratio <= 1) read[static_cast<std::size_t>(head)] = kv;
    }
  }
  if (own.kv_heads < 2 || std::ranges::find(read, -1) != read.end()) return;
  tries.attempt(fmt::format("heads read the kv heads {}", fmt::join(read, ", ")), [&](SiteCall& call) { call.kv_of = read; });
}

// The number with as few digits as do; `unit`: what it is told as a multiple of.
void try_number(Tries& tries, double number, double unit, double SiteCall::*setting, const char* format) {
  for (int digits = 1; digits <= 6; ++digits) {
    const double told = to_digits(number / unit, digits);
    if (std::abs(told - 1) < kIdentity && unit != 1) continue;
    if (tries.attempt(fmt::format(fmt::runtime(format), told), [&](SiteCall& call) { call.*setting = told * unit; })) return;
  }
}

void try_scale(Tries& tries) {
  const SiteCall& own = tries.site().call;
  const double unit = own.score_scale > 0
                          ? own.score_scale
                          : 1 / std::sqrt(static_cast<double>(own.inputs[0].cols()) / static_cast<double>(own.heads));
  const double found = best(tries, last_rows(tries), &SiteCall::score_scale, unit / 16, 16 * unit);
  try_number(tries, found, unit, &SiteCall::score_scale, "scores {} times as large");
}

void try_mask(Tries& tries) {
  if (tries.value().rows() < 2) return;
  const double found = best(tries, first_rows(tries, tries.value().rows() - 1), &SiteCall::mask_depth, 0x1p-6, 128);
  try_number(tries, found, 1, &SiteCall::mask_depth,
             "a mask that takes {} off the scores of later tokens and does not hide them");
}

void try_cap(Tries& tries) {
  const double found = best(tries, last_rows(tries), &SiteCall::score_cap, 0x1p-4, 0x1p7);
  try_number(tries, found, 1, &SiteCall::score_cap, "scores capped at {}, by its tanh");
}

// e to its score is added to the softmax's sum.
void try_sink(Tries& tries) {
  const double found = best(tries, first_rows(tries), &SiteCall::sink, 0x1p-8, 0x1p12);
  for (int decimals = 0; decimals <= 5; ++decimals) {
    const std::string told = fmt::format("{:.{}f}", std::log(found), decimals);
    if (tries.attempt(fmt::format("a sink of the score {} beside the keys", told == "-0" ? "0" : told),
                      [&](SiteCall& call) { call.sink = std::exp(std::stod(told)); }))
      return;
  }
}

void try_alibi(Tries& tries) {
  const double found = best(tries, last_rows(tries), &SiteCall::alibi, 0x1p-5, 0x1p5);
  try_number(tries, found, 1, &SiteCall::alibi,
             "ALiBi's slopes times {}: a key's distance, times its head's slope, is taken off the score");
}

// Told only if the values lie nearer to it than to the definition: its bound is wide.
void try_narrow_softmax(Tries& tries) {
  const SiteCall& own = tries.site().call;
  const auto distance = [&](const SiteCall& one) {
    return (evaluate(one, tries.site().recipe, tries.site().team).value - tries.value()).squaredNorm();
  };
  for (const auto& [narrow, name] : {std::pair(ActivationRounding::bf16, "bf16"), std::pair(ActivationRounding::f16, "f16")}) {
    SiteCall call = own;
    call.softmax = narrow;
    if (!tries.fits(call) || distance(call) > 0.25 * distance(own)) continue;
    tries.add(fmt::format("scores and the softmax's weights rounded to {}", name));
    return;
  }
}

void try_one(Tries& tries) {
  for (auto* const tried :
       {try_hidden_keys, try_kv_heads, try_scale, try_alibi, try_mask, try_cap, try_sink, try_narrow_softmax}) {
    if (tries.found().empty()) tried(tries);
  }
}

// All changes, of a call in the place of the site's.
Tries tried_on(const WrongSite& site, const RowMatrix& value) {
  Tries tries(site, value);
  if (tries.fits(site.call)) return tries;
  try_settings(tries);
  if (tries.found().empty()) try_one(tries);
  return tries;
}

// Two changes at once. Some rows show only one of them: the first sees a single key, those after it no end of a window or chunk, and the last
// nothing that a mask should have hidden. The change with which such rows are right is kept, and all are tried beside it.
void try_two(Tries& tries) {
  const WrongSite& site = tries.site();
  const auto with = [&](const SiteCall& call) {
    return WrongSite{site.model, site.recipe, site.wiring, site.rows, call, site.weight, site.team};
  };
  for (const Part& part : {first_rows(tries, 1), first_rows(tries, 2), first_rows(tries), last_rows(tries, 1)}) {
    const WrongSite seen = with(part.call);
    const Tries one = tried_on(seen, part.value);
    if (!one.changed()) continue;
    SiteCall call = *one.changed();
    call.inputs = site.call.inputs;
    call.positions = site.call.positions;
    call.tokens = site.call.tokens;
    const WrongSite left = with(call);
    const Tries both = tried_on(left, tries.value());
    for (const std::string& other : both.found()) tries.add(fmt::format("{}; and {}", one.found().front(), other));
    if (!tries.found().empty()) return;
  }
}

}  // namespace

void try_attention_estimates(Tries& tries) {
  if (tries.value().rows() == 0 || !tries.value().allFinite()) return;
  try_one(tries);
  if (tries.found().empty()) try_two(tries);
}

}  // namespace assay::explanation
