#include "harness/forensics/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "harness/forensics/explain/condition.h"
#include "harness/forensics/explain/hypothesis.h"
#include "harness/forensics/order/claim.h"
#include "harness/verdict/trials.h"

namespace assay::why {
namespace {

using Clock = std::chrono::steady_clock;
using List = std::vector<const Evidence*>;

constexpr std::size_t kKeptBytes = std::size_t{3} << 29;
constexpr std::size_t kFirst = 4;            // cheap cases that decide whether a hypothesis is worth the rest
constexpr std::size_t kMostConditions = 12;  // equally simple ones that are told of a hypothesis
constexpr std::size_t kMostNear = 3;
constexpr double kLeastShare = 0.75;     // of what a place names, what must be wrong
constexpr std::size_t kLeastBroken = 8;  // cases that pass: fewer are told from those that fail by chance
constexpr double kMuchSmaller = 0.01;    // of the margin: nearly an explanation

// Of those that declared.cc tries.
constexpr reference::Order kLongestOrder{reference::Order::Kind::lanes, 64};

class Search {
 public:
  // `refuter`: null where there is no kernel to ask.
  Search(const Op& op, const ExplainRequest& request, KernelExplanation& out, const std::vector<Evidence>& cases,
         order::Refuter* refuter)
      : op_(op), request_(request), out_(out), refuter_(refuter) {
    for (const Evidence& one : cases) (one.fails() ? failing_ : passing_).push_back(&one);
    for (List* const list : {&failing_, &passing_}) std::ranges::stable_sort(*list, {}, &Evidence::work);
    for (const Evidence* one : failing_) {
      out_.failing.push_back(one->name);
      before_ = std::max(before_, margin_of(op_, *one, {one->call->expected, {}}));
    }
    out_.passing = passing_.size();
  }

  void run() {
    if (failing_.empty()) return;
    std::vector<Evidence> ordered;
    for (const Evidence* one : failing_) ordered.push_back(*one);
    // First one that has no input but those of all: hypotheses are made for its inputs.
    std::ranges::stable_sort(ordered, {}, [](const Evidence& one) { return one.inputs().size(); });
    for (const Evidence* one : passing_) ordered.push_back(*one);
    const Hypotheses all = catalogue(op_, ordered);
    for (const Hypothesis& one : all) {
      if (one.widens) continue;
      if (!out_.told.empty() && one.cost > out_.told.front().cost) break;
      if (ended()) break;
      ++out_.tried;
      request_.progress(fmt::format("{}: hypothesis {}, {}", out_.variant, out_.tried, one.words));
      try_one(one);
    }
    if (std::ranges::all_of(out_.told, &Explanation::only_where)) tell_state();
    if (out_.told.empty() || out_.told.front().says == Says::place) find_permit(all);
    if (!out_.told.empty()) out_.near.clear();
    std::ranges::stable_sort(out_.near, std::greater(), &Near::explained);
    if (out_.near.size() > kMostNear) out_.near.resize(kMostNear);
  }

 private:
  bool ended() {
    const std::chrono::duration<double> past = Clock::now() - begun_;
    out_.ended_early = out_.ended_early || past.count() > request_.most_seconds || request_.stop();
    return out_.ended_early;
  }

  // The kernel gives other results when it is called once more: that much is known, whatever it computes.
  void tell_state() {
    if (!std::ranges::all_of(failing_, [](const Evidence* one) { return one->recovers || one->unsteady; })) return;
    out_.told.clear();
    out_.told.push_back(
        {"state", "state",
         "called once more, it gives other results: they depend on more than its inputs, on calls before, on what lay "
         "between rows or in its outputs, or on chance",
         law_of(op_, Law::equation), "", "", "", "", Says::neither, 0, 0});
  }

  // The margin that the hypothesis leaves; infinite where it says nothing of a case that fails. Of a sample of outputs it may be silent once it
  // has explained a whole case: the truth is then not known of all that it names.
  double left(const Hypothesis& hypothesis, const Evidence& one, bool explained) const {
    const auto said = hypothesis.predict(one);
    const bool may_be_silent = hypothesis.says != Says::what || (one.sample && explained);
    if (!said || (!may_be_silent && evades(one, *said))) return INFINITY;
    return margin_of(op_, one, *said);
  }

  bool much_smaller(double margin) const { return std::isfinite(before_) && margin < kMuchSmaller * before_; }

  // How many failing cases it explains; the rest is not looked at where none of the first is.
  Near explain_failing(const Hypothesis& hypothesis) {
    Near found{hypothesis.name, hypothesis.words, 0, 0, 0, before_, ""};
    for (std::size_t i = 0; i < failing_.size(); ++i) {
      if (i >= kFirst && found.explained == 0 && !much_smaller(found.margin)) break;
      if (ended()) break;
      const double margin = left(hypothesis, *failing_[i], found.explained > 0);
      found.margin = std::max(found.margin, margin);
      if (margin <= 1) ++found.explained;
      if (margin > 1 && found.against.empty()) found.against = failing_[i]->name;
    }
    return found;
  }

  // How many of the outputs that a place names are wrong, as a share, of those that the call writes; 0 where it names all of every failing
  // case, which says nothing of the place.
  double share_of(const Hypothesis& place) const {
    double named = 0;
    double wrong = 0;
    bool leaves_some = false;
    for (const Evidence* const one : failing_) {
      const auto said = place.predict(*one);
      for (std::size_t o = 0; said && o < one->wrong.size(); ++o) {
        const auto& truth = one->call->expected[o].bits_only;
        for (std::size_t i = 0; i < one->wrong[o].size(); ++i) {
          const bool names = said->outputs[o].bits_only[i] != 0;
          leaves_some = leaves_some || !names;
          if (!names || (!truth.empty() && truth[i] != 0) || (one->unwritten[o][i] && !one->wrong[o][i])) continue;
          ++named;
          if (one->wrong[o][i]) ++wrong;
        }
      }
    }
    return leaves_some || place.name == kEverywhere ? wrong / named : 0;
  }

  // A place is told where most of what it names is wrong, and calls enough that pass stand against its condition; the one that names it best.
  void tell_place(const Hypothesis& place, const List& broken) {
    const bool says_nothing = place.name == kEverywhere && broken.empty();
    if (says_nothing || (!broken.empty() && broken.size() < kLeastBroken)) return;
    const double share = share_of(place);
    if (share < kLeastShare || share < share_) return;
    if (share > share_) std::erase_if(out_.told, [](const Explanation& one) { return one.says == Says::place; });
    share_ = share;
    tell_all(place, broken, 0);
  }

  // Cases that pass and in which the hypothesis would have the kernel be wrong.
  List broken_by(const Hypothesis& hypothesis) {
    List broken;
    for (const Evidence* one : passing_) {
      if (ended()) return broken;
      const auto said = hypothesis.predict(*one);
      if (said && (hypothesis.says != Says::what || margin_of(op_, *one, *said) > 1)) broken.push_back(one);
    }
    return broken;
  }

  void try_one(const Hypothesis& hypothesis) {
    Near near = explain_failing(hypothesis);
    if (near.explained < failing_.size()) {
      const bool nearly = near.explained * 2 >= failing_.size() || much_smaller(near.margin);
      if (nearly && hypothesis.says == Says::what) out_.near.push_back(std::move(near));
      return;
    }
    const List broken = broken_by(hypothesis);
    if (out_.ended_early) return;
    if (hypothesis.says == Says::place) return tell_place(hypothesis, broken);
    if (tell_all(hypothesis, broken, near.margin) || hypothesis.says != Says::what) return;
    near.broken = broken.size();
    near.against = broken.front()->name;
    out_.near.push_back(std::move(near));
  }

  // Whether it can be told: it breaks no case, or a condition tells those apart.
  bool tell_all(const Hypothesis& hypothesis, const List& broken, double margin) {
    if (broken.empty()) {
      tell(hypothesis, nullptr, margin);
      return true;
    }
    const auto conditions = conditions_between(op_, failing_, broken, kMostConditions);
    for (const Condition& one : conditions) tell(hypothesis, &one, margin);
    return !conditions.empty();
  }

  // Of the simplest declarations that the kernel does not refute the one that the errors fill most.
  void find_permit(const Hypotheses& all) {
    int cost = 0;
    double fullest = 0;
    for (const Hypothesis& one : all) {
      if (!one.widens || ended() || (cost > 0 && one.cost > cost)) continue;
      if (refuter_ != nullptr && refuter_->refutes(one.properties)) continue;
      const Near found = explain_failing(one);
      if (found.explained < failing_.size() || found.margin <= fullest || !broken_by(one).empty() || out_.ended_early) continue;
      cost = one.cost;
      fullest = found.margin;
      out_.permits = one.properties;
    }
  }

  void tell(const Hypothesis& hypothesis, const Condition* when, double margin) {
    const int cost = hypothesis.cost + (when == nullptr ? 0 : when->cost);
    if (!out_.told.empty() && cost > out_.told.front().cost) return;
    if (!out_.told.empty() && cost < out_.told.front().cost) out_.told.clear();
    Explanation one{hypothesis.name,
                    hypothesis.kind,
                    hypothesis.words,
                    law_of(op_, hypothesis.law),
                    "",
                    "",
                    "",
                    hypothesis.properties,
                    hypothesis.says,
                    cost,
                    margin};
    if (when != nullptr) {
      one.when = when->words;
      one.when_kind = when->kind;
      one.when_of = when->subject;
    }
    out_.told.push_back(std::move(one));
  }

  const Op& op_;
  const ExplainRequest& request_;
  KernelExplanation& out_;
  order::Refuter* refuter_;
  const Clock::time_point begun_ = Clock::now();
  List failing_;
  List passing_;
  double before_ = 0;
  double share_ = 0;  // of the place that is told
};

// Keeps every result, so that cases that pass count too.
class Keeper final : public SuiteWatch {
 public:
  explicit Keeper(const ExplainRequest& request) : request_(request) {}
  void progress(const SuiteProgress& now) override { request_.progress(fmt::format("{} cases run", now.cases_done)); }
  bool stop() override { return request_.stop(); }

 private:
  const ExplainRequest& request_;
};

}  // namespace

KernelExplanation explain_cases(const Op& op, const std::vector<Evidence>& cases, const ExplainRequest& request) {
  KernelExplanation kernel;
  Search(op, request, kernel, cases, nullptr).run();
  return kernel;
}

ExplainResult explain_op(const ExplainRequest& request) {
  CheckRequest check = request.check;
  check.checks = check.checks.only({Check::classes, Check::bound, Check::exact});
  check.kept_bytes = kKeptBytes;
  check.keeps_passing = true;
  check.jobs = 0;
  const Op& op = require_op(check.ops.front());
  Keeper keeper(request);
  const SuiteResult suite = run_suite(check, keeper);
  ExplainResult result{op.name, op.family->header, suite.runner, {}, suite.skips};
  std::map<std::string, std::vector<const CaseResult*>> of_variant;
  for (const CaseResult& one : suite.cases) of_variant[one.variant].push_back(&one);
  std::vector<Skip> skips;
  Trials trials(check, skips);
  for (const Candidate& candidate : trials.of(op)) {
    KernelExplanation kernel;
    kernel.variant = candidate.name;
    std::vector<Evidence> cases;
    for (const CaseResult* one : of_variant[candidate.name]) {
      auto evidence = evidence_of(op, *one, candidate, trials.page());
      if (evidence) {
        cases.push_back(std::move(*evidence));
      } else if (one->failure) {
        ++kernel.otherwise;
      } else if (!one->refusal) {
        ++kernel.unheld;
      }
    }
    order::Refuter refuter(op, candidate, trials.page(), kLongestOrder);
    Search(op, request, kernel, cases, &refuter).run();
    if (!kernel.failing.empty() || kernel.otherwise > 0) result.kernels.push_back(std::move(kernel));
  }
  return result;
}

}  // namespace assay::why
