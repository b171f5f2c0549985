// How a kernel fares where nothing of the call has changed but its surroundings: where it lies, what was called before, who calls too.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "harness/verdict/check.h"
#include "harness/verdict/clock.h"
#include "harness/verdict/draw.h"
#include "harness/verdict/drawn_case.h"
#include "reference/ops/status.h"

namespace assay {
namespace {

constexpr const char* kByThreads = "not the same when threads run it";
constexpr int kMostCallers = 8;
constexpr int kCallers[] = {3, 4, 5, kMostCallers};
constexpr int kRaces = 3;
constexpr int kTwoShapes = 2;                 // times
constexpr double kLeastThreadWork = 1 << 21;  // what takes no time meets no other
constexpr double kMostThreadWork = 1 << 23;   // what takes long cannot be tried often
constexpr double kManyCalls = 4200;           // past 4096, where a counter of 12 bits wraps
constexpr double kManyWork = 1L << 31;        // of all calls together
constexpr std::int64_t kPiece = 300;
constexpr double kLongWait = 20;
constexpr double kManySeconds = 1;  // likewise, of this thread: what is slow is not what a kernel is made for

// The call with five eighths of every size, in whole units, and rows without gaps; none where the op would refuse it.
std::optional<OtherCall> smaller_call(const Op& op, const Params& params) {
  const Params smaller = sized(op.family->shapes(op), [&](const Size& size) {
    return std::max(size.unit, params.integer_or(size.name, size.fallback) * 5 / 8 / size.unit * size.unit);
  });
  if (!std::isfinite(work_of(op, smaller))) return std::nullopt;
  TestCase test = drawn_case(op, smaller, "gauss", 1);
  const bool alike = signature_of(op, smaller).tensors.size() == signature_of(op, params).tensors.size();
  return alike && test.status == ASSAY_OK ? std::optional(OtherCall{smaller, std::move(test.inputs)}) : std::nullopt;
}

}  // namespace

// The first element with other bits, in words; empty: none.
std::string CaseCheck::other_bits(const Outcome& first, const Outcome& other) const {
  if (test_.status != ASSAY_OK) return {};
  return assay::other_bits(call_.signature(), first.outputs, other.outputs, any_nan());
}

// A fault fails whatever is off. Other bits break what our kernels promise of memory (guard), and what others' say of bits.
std::optional<Failure> CaseCheck::compare_layout(const Outcome& first, const Outcome& other, const std::string& how,
                                                 const Candidate& candidate, const char* trait, const Checks& checks) const {
  if (!other.violation.empty() && (other.crashed || checks.has(Check::guard))) return Failure{Check::guard, other.violation};
  const Check check = candidate.canonical ? Check::guard : Check::bits;
  if (!checks.has(check)) return std::nullopt;
  const std::string before = candidate.canonical ? "" : std::string(trait) + ": ";
  if (other.status != first.status) {
    return Failure{check,
                   fmt::format("{}returned {} {}, {} before", before, status_name(other.status), how, status_name(first.status))};
  }
  const std::string differs = other_bits(first, other);
  if (differs.empty()) return std::nullopt;
  return Failure{check, fmt::format("{}other bits {}: {}", before, how, differs)};
}

// The same call again.
std::optional<Failure> CaseCheck::check_repeats(const Candidate& candidate, const Outcome& first, CaseResult& result) {
  constexpr int kRepeats = 2;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    ++result.placements;
    const Outcome again = call_.run(*candidate.executor, call_.placements().front());
    result.crashed = again.crashed;
    if (again.crashed) return Failure{Check::guard, again.violation + ", when called again"};
    if (again.status != first.status) {
      return Failure{Check::bits, fmt::format("not deterministic: returned {} when called again, {} before",
                                              status_name(again.status), status_name(first.status))};
    }
    const std::string differs = other_bits(first, again);
    if (!differs.empty()) return Failure{Check::bits, "not deterministic: other bits when called again: " + differs};
  }
  return std::nullopt;
}

// What a case is tried in beside its first placement: every further one, and every cut in two. Of a case that was drawn, which stands for
// many, of one for the bias, which is long, and of one that is large, one of them, once in
// place, and, where the call has that, after data that differ in one element or change nothing.
CaseCheck::Surroundings CaseCheck::surroundings() const {
  constexpr std::size_t kLarge = 64 << 20;
  Surroundings all{{call_.placements().begin() + 1, call_.placements().end()}, {}};
  if (test_.status == ASSAY_OK) all.splits = call_.signature().splits;
  if (!test_.drawn && !test_.judge_bias && call_.bytes() < kLarge) return all;
  const auto those = [&all](const auto& wanted) {
    std::vector<Placement> found;
    std::ranges::copy_if(all.placements, std::back_inserter(found), wanted);
    return found;
  };
  const auto remembers = [](const Placement& one) { return one.before == Before::one_changed || one.before == Before::neutral; };
  if (std::vector<Placement> meant = those(std::mem_fn(&Placement::meant)); !meant.empty()) return {std::move(meant), {}};
  const std::vector<Placement> in_place = those(std::mem_fn(&Placement::in_place));
  std::vector<Placement> remembered = those(remembers);
  Draws draws(test_.seed.value_or(seed_) ^ 1);
  const auto only = [&draws](auto& some) { some = {some[draws.below(static_cast<std::uint32_t>(some.size()))]}; };
  const bool cut = !all.splits.empty() && draws.below(2) == 0;
  cut ? all.placements.clear() : all.splits.clear();
  cut ? only(all.splits) : only(all.placements);
  const auto follows = [&](const Placement& one) { return one.in_place || remembers(one); };
  std::erase_if(all.placements, follows);
  if (!in_place.empty()) all.placements.push_back(in_place[draws.below(static_cast<std::uint32_t>(in_place.size()))]);
  std::ranges::move(remembered, std::back_inserter(all.placements));
  return all;
}

// Every further placement must keep its surroundings and the bits.
std::optional<Failure> CaseCheck::check_layouts(const Candidate& candidate, const Outcome& first, const Checks& checks,
                                                CaseResult& result) {
  const bool slow = is_known(candidate) && work_of(op_, test_.params) > kPairWork;
  const Surroundings tried = slow ? Surroundings{} : surroundings();
  for (const Placement& placement : tried.placements) {
    ++result.placements;
    if (auto failure = check_placed(candidate, first, placement, checks, result)) return failure;
  }
  for (const Split& split : tried.splits) {
    if (auto failure = check_cut(candidate, first, split, checks, result)) return failure;
  }
  return std::nullopt;
}

// The call cut in two, which two threads run: of a kernel that claims no canonical bits first one after the other, so that what
// depends on the cut is told apart from what depends on threads.
std::optional<Failure> CaseCheck::check_cut(const Candidate& candidate, const Outcome& first, const Split& split,
                                            const Checks& checks, CaseResult& result) {
  Outcome in_turn = first;  // of one whose bits may depend on the cut: what threads are held to
  for (const bool at_once : {false, true}) {
    if (candidate.canonical && !at_once) continue;
    ++result.placements;
    const Outcome other = call_.run_parts(*candidate.executor, split, 2, {.at_once = at_once});
    result.crashed = other.crashed;
    const std::string how = fmt::format("when placed cut by {} {}", split.param, at_once ? "among 2 threads" : "in 2 parts");
    auto failure = at_once ? compare_layout(in_turn, other, how, candidate, kByThreads, checks)
                           : compare_cut(first, other, how, candidate, checks);
    if (failure) return failure;
    if (!candidate.traits.cut_invariant()) in_turn = other;
  }
  return std::nullopt;
}

const Split* split_for_threads(const Signature& signature, const Params& params) {
  const auto most = std::ranges::max_element(signature.splits, {}, [&](const Split& split) { return most_parts(split, params); });
  return most == signature.splits.end() ? nullptr : &*most;
}

// Parts, up to as many as there are callers; one where the call is too short, or too long.
int thread_worth(const Op& op, const TestCase& test) {
  if (test.status != ASSAY_OK) return 0;
  const Signature signature = signature_of(op, test.params);
  const Split* const split = split_for_threads(signature, test.params);
  // What cannot be cut every caller does by itself.
  const std::int64_t parts = split == nullptr ? kEnoughWorth : most_parts(*split, test.params);
  const double work = work_of(op, test.params);
  const bool fits = work >= kLeastThreadWork && work <= kMostThreadWork;
  return static_cast<int>(std::min<std::int64_t>(parts < 2 ? 0 : parts, fits ? kEnoughWorth : 1));
}

// The call, cut among some callers; of what cannot be cut a call of each, with data of its own.
std::vector<Outcome> CaseCheck::run_callers(const Candidate& candidate, int callers, const Manner& manner) {
  const Split* const split = split_for_threads(call_.signature(), call_.params());
  if (split == nullptr) return call_.run_rivals(*candidate.executor, callers, manner);
  return {call_.run_parts(*candidate.executor, *split, callers, manner, true)};
}

// What a kernel sets up when it is first called, it sets up once in a process.
CaseCheck::Raced CaseCheck::race(const Candidate& candidate) {
  Raced raced;
  for (int round = 0; round < kRaces; ++round) {
    raced.push_back(run_callers(candidate, kMostCallers, {.at_once = true, .fresh = true}));
    if (!raced.back()[0].violation.empty()) break;
  }
  return raced;
}

std::optional<Failure> CaseCheck::compare_callers(const std::vector<Outcome>& alone, const std::vector<Outcome>& together,
                                                  const std::string& how, const Candidate& candidate,
                                                  const Checks& checks) const {
  for (std::size_t caller = 0; caller < together.size(); ++caller) {
    const std::string whose = caller == 0 ? how : fmt::format("{} (caller {})", how, caller + 1);
    if (auto failure = compare_layout(alone[caller], together[caller], whose, candidate, kByThreads, checks)) return failure;
  }
  return std::nullopt;
}

// Callers that differ in what they do, more of them than the processor may have cores: first one after the other, of others' kernels, whose
// bits may depend on the cut, and of rivals. `raced`: the kernel's first calls, by the most.
std::optional<Failure> CaseCheck::check_crowds(const Candidate& candidate, const Outcome& first, const Raced& raced,
                                               const Checks& checks, CaseResult& result) {
  std::vector<Outcome> alone{first};
  for (const int callers : kCallers) {
    if (!candidate.canonical || call_.signature().splits.empty()) {
      alone = run_callers(candidate, callers, {});
      ++result.placements;
      result.crashed = alone[0].crashed;
      const std::string how = fmt::format("when cut in {} parts", callers);
      if (auto failure = compare_cut(first, alone[0], how, candidate, checks)) return failure;
    }
    ++result.placements;
    const std::vector<Outcome> together = run_callers(candidate, callers, {.at_once = true});
    result.crashed = together[0].crashed;
    const std::string how = fmt::format("when {} threads run it at once", callers);
    if (auto failure = compare_callers(alone, together, how, candidate, checks)) return failure;
  }
  for (const auto& one : raced) {
    if (auto failure = compare_callers(alone, one, "when first called by threads at once", candidate, checks)) return failure;
  }
  return check_two_shapes(candidate, checks, result);
}

// Callers of which every second computes something smaller.
std::optional<Failure> CaseCheck::check_two_shapes(const Candidate& candidate, const Checks& checks, CaseResult& result) {
  constexpr int kTwoOfEach = 4;
  const std::optional<OtherCall> other_sizes = smaller_call(op_, test_.params);
  if (!other_sizes) return std::nullopt;
  const auto run = [&](bool at_once) {
    ++result.placements;
    auto outcomes = call_.run_rivals(*candidate.executor, kTwoOfEach, {.at_once = at_once}, &*other_sizes);
    result.crashed = outcomes[0].crashed;
    return outcomes;
  };
  const std::vector<Outcome> alone = run(false);
  for (int time = 0; time < kTwoShapes; ++time) {
    const std::string how =
        fmt::format("when {} threads run it at once, every second with {}", kTwoOfEach, other_sizes->params.to_string());
    if (auto failure = compare_callers(alone, run(true), how, candidate, checks)) return failure;
  }
  return std::nullopt;
}

bool CaseCheck::worth_many_calls() const {
  constexpr std::size_t kSmallBytes = 512;
  const bool tells = !refused() && baseline_ && !baseline_->zeros_pass;
  return tells && call_.bytes() >= kSmallBytes && cost_of(op_, test_.params).bytes > 0;
}

std::optional<Failure> CaseCheck::check_many_calls(const Candidate& candidate, const Checks& checks) {
  if (!judges_layouts(candidate, checks) || refused()) return std::nullopt;
  call_.allow_over_read(candidate.traits.over_read());
  const Placement& front = call_.placements().front();
  call_.run(*candidate.executor, front);  // finds everything in its cache the next time
  const double begun = thread_seconds();
  const Outcome first = call_.run(*candidate.executor, front);
  const double each = std::max(call_.work() / kManyWork, (thread_seconds() - begun) / kManySeconds);
  const auto times = static_cast<std::int64_t>(std::clamp(1 / each, 2.0, kManyCalls));
  // Who waits for threads of its own may wait long where others run too: in pieces, each with the time limit, until it has waited enough.
  const bool waits = candidate.traits.own_threads();
  const double began_to_wait = wall_seconds();
  std::optional<Failure> failure;
  for (std::int64_t done = 0; done < times && !failure; done += kPiece) {
    if (waits && wall_seconds() - began_to_wait > kLongWait) break;
    const Outcome last = call_.run(*candidate.executor, front, {.times = waits ? std::min(kPiece, times - done) : times});
    const std::string how = fmt::format("at call {} of {} that are the same", done + last.odd_call, times);
    failure = compare_layout(first, last, how, candidate, "not deterministic", checks);
    if (!waits) break;
  }
  const std::string left = candidate.executor->settle();
  if (!failure && !left.empty() && checks.has(Check::guard)) failure = Failure{Check::guard, left};
  return failure;
}

void CaseCheck::apply(std::optional<Failure> failure, CaseResult& result) const {
  if (!failure) return;
  result.verdict = Verdict::fail;
  if (!result.stability.empty() && failure->check == Check::bits)
    result.stability = failure->message.substr(0, failure->message.find(':'));
  result.failure = std::move(failure);
}

}  // namespace assay
