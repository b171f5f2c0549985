#include "harness/verdict/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <set>
#include <stdexcept>

#include "harness/verdict/nearest.h"
#include "harness/verdict/suite_processes.h"
#include "harness/verdict/suite_progress.h"
#include "harness/verdict/trials.h"

namespace assay {
namespace {

class Suite {
 public:
  Suite(const CheckRequest& request, SuiteWatch& watch)
      : request_(request),
        watch_(watch),
        plan_(request),
        trials_(request, result_.skips),
        units_(units_of(plan_, trials_)),
        states_(units_.size()) {}

  SuiteResult run() {
    result_.runner = trials_.runner();
    result_.isolation = trials_.isolation();
    result_.plugins = trials_.plugins();
    watch_.begin(result_, labels());
    if (request_.jobs > 0) {
      run_in_processes(plan_, units_, request_.jobs, events());
    } else {
      run_here();
    }
    gather(true);
    if (draws()) result_.seed = request_.seed;
    for (const Op* op : ops()) {
      trials_.take_traits(*op, result_);
      trials_.take_code(*op, result_);
    }
    judge();
    return std::move(result_);
  }

 private:
  std::vector<std::string> labels() {
    std::vector<std::string> all;
    const Op* before = nullptr;
    for (const Unit& unit : units_) {
      if (unit.op == before) continue;
      before = unit.op;
      for (const Candidate& one : trials_.of(*unit.op)) all.push_back(variant_label(unit.op->name, one.name));
    }
    return all;
  }

  void run_here() {
    for (std::size_t u = 0; u < units_.size(); ++u) {
      states_[u].started = SuiteClock::now();
      const UnitWatch watch{[&](std::int64_t more) { states_[u].planned += more; }, [&](const CaseResult& one) { take(u, one); },
                            [this] { return stop(); }};
      try {
        take(u, run_unit(plan_, units_[u], trials_, watch));
      } catch (const Stopped&) {
        return;
      }
    }
  }

  UnitEvents events() {
    return {.started = [this](std::size_t u) { states_[u].started = SuiteClock::now(); },
            .said =
                [this](std::size_t u, SuiteMessage message) {
                  if (message.what == SuiteMessage::What::planned) states_[u].planned += message.planned;
                  if (message.what == SuiteMessage::What::done) take(u, std::move(message.one));
                  if (message.what == SuiteMessage::What::unit) take(u, std::move(message.unit));
                },
            .lost =
                [this](std::size_t u, const std::string& how) {
                  states_[u].lost = how;
                  states_[u].result.done = true;
                  gather(false);
                },
            .tick = [this] { tell(); },
            .stop = [this] { return stop(); }};
  }
  bool stop() {
    result_.interrupted = result_.interrupted || watch_.stop();
    return result_.interrupted;
  }

  void take(std::size_t u, CaseResult one) {
    ++states_[u].done;
    watch_.case_done(one);
    states_[u].result.cases.push_back(std::move(one));
    if (request_.jobs == 0) tell();
  }
  void take(std::size_t u, UnitResult whole) {
    UnitState& state = states_[u];
    state.result = std::move(whole);
    state.done = state.planned = std::ssize(state.result.cases);
    state.seconds = std::chrono::duration<double>(SuiteClock::now() - *state.started).count();
    gather(false);
  }

  // Takes the results of the ops that are done, in order, up to the first that is not; all there is where that is `all`.
  void gather(bool all) {
    while (gathered_ < units_.size()) {
      std::size_t end = gathered_;
      while (end < units_.size() && units_[end].op == units_[gathered_].op) ++end;
      const bool done = std::all_of(&states_[gathered_], &states_[end - 1] + 1, [](const auto& one) { return one.result.done; });
      if (!done && !all) return;
      const std::size_t before = result_.cases.size();
      for (; gathered_ < end; ++gathered_) add(units_[gathered_], states_[gathered_]);
      if (result_.cases.size() > before) watch_.op_done(std::span(result_.cases).subspan(before));
      ops_done_ += done ? 1 : 0;
    }
  }
  void add(const Unit& unit, UnitState& state) {
    UnitResult& from = state.result;
    std::ranges::move(from.known, std::back_inserter(result_.known[unit.op->name]));
    if (result_.known[unit.op->name].empty()) result_.known.erase(unit.op->name);
    if (!state.lost.empty()) {
      result_.faults.push_back(fmt::format("{}: the process that checked it {}{}", unit.op->name, state.lost,
                                           from.cases.empty() ? "" : ", after case " + from.cases.back().case_name));
    }
    std::ranges::move(from.cases, std::back_inserter(result_.cases));
    shapes_.insert(from.shapes.begin(), from.shapes.end());
    tags_.insert(from.tags.begin(), from.tags.end());
    trials_.add_records(*unit.op, from.traits);
  }

  SuiteProgress progress() const {
    SuiteProgress now = progress_of(units_, states_, request_.jobs);
    now.ops_done = ops_done_;
    return now;
  }
  // No more often than anybody reads.
  void tell() {
    if (SuiteClock::now() - told_ < std::chrono::milliseconds(100)) return;
    told_ = SuiteClock::now();
    watch_.progress(progress());
  }
  // Whether anything comes from this run's seed that another run's would not have.
  bool draws() const {
    return std::ranges::any_of(units_, [&](const Unit& unit) {
      return std::ranges::any_of(unit.kinds,
                                 [&](Kind kind) { return kind == Kind::random || (kind == Kind::bias && request_.strangers()); });
    });
  }

  void require_known_names() const {
    trials_.require_known_variant();
    if (!request_.case_name.empty()) require_known_case();
    if (!request_.tag.empty() && !request_.generated && !tags_.contains(request_.tag)) {
      throw std::invalid_argument(unknown_name("tag", request_.tag, {tags_.begin(), tags_.end()}));
    }
    require_cases();
  }
  void require_known_case() const {
    std::set<std::string> names(shapes_);
    for (const auto& [op, lists] : plan_.golden) {
      for (const GoldenList& list : lists) names.insert(list.cases.begin(), list.cases.end());
    }
    for (const Kind kind : own_kinds(request_)) names.insert(kind_name(kind));
    const bool there = std::ranges::any_of(names, [&](const std::string& name) { return request_.wants_case(name); });
    if (!there && is_glob(request_.case_name))
      throw std::invalid_argument(fmt::format("no case matches '{}'", request_.case_name));
    if (!there) throw std::invalid_argument(unknown_name("case", request_.case_name, {names.begin(), names.end()}));
  }
  void require_cases() const {
    std::int64_t dealt = 0;
    for (const auto& [op, names] : result_.known) dealt += std::ssize(names);
    if (request_.shard.split() && dealt < request_.shard.count) {
      throw std::invalid_argument(fmt::format("--shard {}: only {} cases are asked for; expected at most as many shards",
                                              request_.shard.to_string(), dealt));
    }
    if (request_.shard.split() && result_.cases.empty()) {
      throw std::invalid_argument(
          fmt::format("--shard {}: none of the {} cases falls to it; expected fewer shards", request_.shard.to_string(), dealt));
    }
  }

  // What no single case shows. Whether a variant's cases suffice is judged where all of them are: of several shards by
  // `assay report --merge`.
  void judge() {
    if (result_.interrupted) {
      result_.faults.push_back(fmt::format("interrupted: {} of {} ops were checked", ops_done_, progress().ops));
      return;
    }
    require_known_names();
    if (result_.cases.empty()) result_.faults.emplace_back("no case was run");
    if (!request_.shard.split()) {
      std::map<std::string, VariantTally> tallies;
      for (const CaseResult& one : result_.cases) {
        tallies[variant_label(one.op, one.variant)].add(one.compared + one.bits_only,
                                                        !one.trivial && one.verdict != Verdict::mistrusted);
      }
      const bool zeros_meant = request_.generated && request_.generated->data == "zeros";
      const bool trust_expected = (request_.everything() || request_.generated) && !zeros_meant;
      result_.faults = tally_faults(tallies, trust_expected, std::move(result_.faults));
    }
    if (!request_.everything() || !request_.golden.empty() || !request_.file.empty()) return;
    for (const Unit& unit : units_) {
      const std::string fault = unit.op->name + std::string(": has no golden");
      if (!plan_.golden.contains(unit.op) && std::ranges::find(result_.faults, fault) == result_.faults.end())
        result_.faults.push_back(fault);
    }
  }

  const CheckRequest& request_;
  SuiteWatch& watch_;
  SuiteResult result_;
  SuitePlan plan_;
  Trials trials_;
  std::vector<Unit> units_;
  std::vector<UnitState> states_;
  std::size_t gathered_ = 0;
  std::size_t ops_done_ = 0;
  SuiteClock::time_point told_;
  std::set<std::string> shapes_;
  std::set<std::string> tags_;
};

}  // namespace

bool SuiteResult::passed() const {
  return faults.empty() &&
         std::all_of(cases.begin(), cases.end(), [](const CaseResult& r) { return r.verdict == Verdict::pass; });
}

std::vector<std::string> tally_faults(const std::map<std::string, VariantTally>& tallies, bool trust_expected,
                                      std::vector<std::string> faults) {
  for (const auto& [variant, tally] : tallies) {
    if (tally.compared == 0) faults.push_back(variant + ": nothing was compared");
    if (trust_expected && tally.trusted == 0) faults.push_back(variant + ": no case that a kernel returning zeros would fail");
  }
  return faults;
}

SuiteResult run_suite(const CheckRequest& request, SuiteWatch& watch) {
  assert_float_environment();
  for (const std::string& op : request.ops) require_op(op);
  return Suite(request, watch).run();
}

SuiteResult run_suite(const CheckRequest& request) {
  SuiteWatch nobody;
  return run_suite(request, nobody);
}

}  // namespace assay
