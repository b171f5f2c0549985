#include "harness/verdict/op_run.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

namespace assay {

std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[split_mix(seed) % i]);
  return order;
}

namespace {

class Cases {
 public:
  Cases(const OpRun& run, const std::vector<Source>& sources) : run_(run), sources_(sources), results_(sources.size()) {}

  std::vector<CaseResult> run() {
    std::vector<std::pair<std::size_t, TestCase>> waiting;
    for (const std::size_t number : shuffled(sources_.size(), run_.seed)) {
      TestCase test = sources_[number]();
      if (awaits_race() && worth(test) < kEnoughWorth) {
        waiting.emplace_back(number, std::move(test));
      } else {
        check(number, std::move(test), awaits_race());
      }
    }
    std::ranges::stable_sort(waiting, std::greater(), [this](const auto& one) { return worth(one.second); });
    for (auto& [number, test] : waiting) {
      const bool race = awaits_race() && worth(test) > 0;
      check(number, std::move(test), race);
    }
    if (run_.first && smallest_) call_many_times();
    std::vector<CaseResult> all;
    for (auto& of_case : results_) std::ranges::move(of_case, std::back_inserter(all));
    return all;
  }

 private:
  bool awaits_race() const { return run_.first && !raced_; }
  bool all_take(const TestCase& test) const {
    return std::ranges::all_of(run_.candidates, [&](const Candidate& one) { return takes(one, test); });
  }
  int worth(const TestCase& test) const { return all_take(test) ? thread_worth(run_.op, test) : 0; }

  void check(std::size_t number, TestCase test, bool race) {
    raced_ = raced_ || race;
    std::vector<bool> asked;
    for (const Candidate& candidate : run_.candidates) asked.push_back(takes(candidate, test));
    CaseCheck check(run_.op, std::move(test), run_.ledger, run_.page, run_.seed);
    for (std::size_t c = 0; c < asked.size(); ++c) {
      const Candidate& candidate = run_.candidates[c];
      if (!asked[c]) {
        check.leave_out(candidate, run_.checks);
        continue;
      }
      results_[number].push_back(check.check(candidate, run_.checks, race));
      run_.done(results_[number].back());
    }
    const bool of_all = std::ranges::find(asked, false) == asked.end();
    if (!of_all || !check.worth_many_calls() || (smallest_ && smallest_->bytes() <= check.bytes())) return;
    smallest_.emplace(std::move(check));
    smallest_number_ = number;
  }

  void call_many_times() {
    for (std::size_t c = 0; c < run_.candidates.size(); ++c) {
      CaseResult& result = results_[smallest_number_][c];
      if (result.verdict != Verdict::fail) smallest_->apply(smallest_->check_many_calls(run_.candidates[c], run_.checks), result);
    }
  }

  const OpRun& run_;
  const std::vector<Source>& sources_;
  std::vector<std::vector<CaseResult>> results_;  // of each source
  bool raced_ = false;
  std::optional<CaseCheck> smallest_;
  std::size_t smallest_number_ = 0;
};

}  // namespace

std::vector<CaseResult> run_cases(const OpRun& run, const std::vector<Source>& sources) {
  return Cases(run, sources).run();
}

}  // namespace assay
