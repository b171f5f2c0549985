#include "harness/verdict/suite_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "harness/forensics/order/claim.h"
#include "harness/verdict/coverage.h"
#include "harness/verdict/op_run.h"
#include "harness/verdict/order_case.h"
#include "harness/verdict/refusals.h"
#include "harness/verdict/vast.h"

namespace assay {
namespace {

Source made(TestCase test) {
  return [test = std::move(test)] { return test; };
}

class UnitRun {
 public:
  UnitRun(const SuitePlan& plan, const Unit& unit, Trials& trials, const UnitWatch& watch)
      : plan_(plan), request_(plan.request), unit_(unit), op_(*unit.op), trials_(trials), watch_(watch), dealt_(unit.dealt) {}

  UnitResult run() {
    for (const Kind kind : unit_.kinds) {
      switch (kind) {
        case Kind::golden:
          run_golden();
          break;
        case Kind::bias:
          run_bias();
          break;
        case Kind::refusals:
          run_refusals();
          break;
        case Kind::kept:
          run_kept();
          break;
        case Kind::shapes:
          run_shapes();
          break;
        case Kind::values:
          run_made(value_cases(op_));
          break;
        case Kind::vast:
          run_vast();
          break;
        case Kind::order:
          run_order();
          break;
        case Kind::random:
          run_random();
          break;
        case Kind::generated:
          run_generated();
          break;
      }
    }
    result_.done = true;
    return std::move(result_);
  }

 private:
  void take(CaseResult& result) const {
    if (!request_.golden.empty()) result.repro += " --golden " + quoted(request_.golden.string());
    // What lies around tensors comes from it. Cases that are made have it already.
    if (result.repro.find(" --seed ") == std::string::npos && request_.seed != CheckRequest{}.seed)
      result.repro += fmt::format(" --seed {}", request_.seed);
    trials_.keep_call(result);
    watch_.done(result);
    if (watch_.stop()) throw Stopped();
  }
  void add(CaseResult result) {
    take(result);
    result_.cases.push_back(std::move(result));
  }
  void plan_cases(std::size_t cases) { watch_.planned(static_cast<std::int64_t>(cases * trials_.of(op_).size())); }

  void run_cases(const std::vector<Source>& sources, const Ledger* ledger) { run_cases(trials_.of(op_), sources, ledger); }
  void run_cases(const std::vector<Candidate>& candidates, const std::vector<Source>& sources, const Ledger* ledger) {
    if (sources.empty()) return;
    watch_.planned(std::ssize(sources) * std::ssize(candidates));
    const OpRun run{op_,
                    candidates,
                    request_.checks,
                    ledger,
                    trials_.page(),
                    request_.seed,
                    std::exchange(first_, false),
                    [this](CaseResult& result) { take(result); }};
    std::ranges::move(assay::run_cases(run, sources), std::back_inserter(result_.cases));
  }

  void run_generated() {
    GeneratedRequest one = *request_.generated;
    std::vector<Source> sources;
    one.seed += static_cast<std::uint64_t>(unit_.from);
    for (std::int64_t i = unit_.from; i < unit_.to; ++i, ++one.seed) {
      TestCase test = generated_test_case(op_, one);
      if (deal(test.name)) sources.push_back(made(std::move(test)));
    }
    run_cases(sources, nullptr);
  }

  // A file is opened here: another process reads it for this one, and would not for two.
  void run_golden() {
    const bool own = request_.golden.empty();
    for (const GoldenList& list : plan_.golden.at(&op_)) {
      const GoldenFile file(list.path, list.known ? Hdf5Origin::known : Hdf5Origin::stranger);
      std::vector<Source> sources;
      for (const std::string& name : list.cases) {
        if (!request_.wants_case(name)) continue;
        // Only its tags say whether a case is asked for; without --tag another shard's is not even read.
        if (request_.tag.empty()) {
          if (deal(name)) sources.emplace_back([this, &file, name] { return case_from_golden(op_, file, name); });
          continue;
        }
        TestCase test = case_from_golden(op_, file, name);
        result_.tags.insert(test.tags.begin(), test.tags.end());
        if (test.has_tag(request_.tag) && deal(name)) sources.push_back(made(std::move(test)));
      }
      run_cases(sources, own ? &plan_.ledger : nullptr);
    }
  }

  // The case that ledgers know; of strangers' kernels, which may have learnt it by heart, one more of this run's seed.
  std::vector<std::optional<std::uint64_t>> bias_seeds() const {
    if (!request_.strangers()) return {std::nullopt};
    return {std::nullopt, request_.seed};
  }

  void run_bias() {
    std::vector<Source> sources;
    for (const auto seed : bias_seeds()) {
      auto test = bias_test_case(op_, seed);
      if (test && deal(test->name)) sources.push_back(made(std::move(*test)));
    }
    if (auto test = long_bias_test_case(op_); request_.shapes && test && deal(test->name))
      sources.push_back(made(std::move(*test)));
    run_cases(sources, request_.golden.empty() ? &plan_.ledger : nullptr);
  }

  // All of them, or those of these parameters.
  void run_shapes() {
    std::vector<Source> sources;
    for (const Params& params : covering_params(op_, request_.work > kRandomWork)) {
      const std::string name = params.to_string();
      result_.shapes.push_back(name);
      if (!matches(request_.case_name, kind_name(Kind::shapes)) && !request_.wants_case(name)) continue;
      if (deal(name)) sources.emplace_back([this, params] { return shape_test_case(op_, params); });
    }
    run_cases(sources, nullptr);
  }

  // What a random case found once.
  void run_kept() {
    std::vector<Source> sources;
    for (const GeneratedRequest& one : kept_cases(own_golden() / "kept.json", op_)) {
      TestCase test = generated_test_case(op_, one);
      test.drawn = true;
      if (deal(test.name)) sources.push_back(made(std::move(test)));
    }
    run_cases(sources, nullptr);
  }

  void run_vast() {
    std::vector<Params> mine;
    for (const Params& params : vast_params(op_, request_.work)) {
      if (deal("vast " + params.to_string())) mine.push_back(params);
    }
    plan_cases(mine.size());
    static RepeatedInputs inputs(1);
    for (const Params& params : mine) {
      VastCheck check(op_, params, inputs);
      for (const Variant& variant : variants_of(op_)) {
        const auto& candidates = trials_.of(op_);
        if (std::ranges::find(candidates, variant.name, &Candidate::name) == candidates.end()) continue;
        add(check.check(variant, request_.checks));
      }
    }
  }

  // Of kernels that declare their arithmetic.
  void run_order() {
    std::vector<Candidate> declared = trials_.of(op_);
    std::erase_if(declared, [](const Candidate& one) { return one.arithmetic.own(); });
    std::optional<TestCase> test = declared.empty() ? std::nullopt : order_case(op_);
    if (!test || !deal(test->name)) return;
    const std::size_t before = result_.cases.size();
    run_cases(declared, {made(std::move(*test))}, nullptr);
    if (!request_.checks.has(Check::bound)) return;
    for (std::size_t i = before; i < result_.cases.size(); ++i) refute(result_.cases[i], declared);
  }

  // A bound is void whose arithmetic is not the kernel's.
  void refute(CaseResult& result, const std::vector<Candidate>& declared) {
    const auto candidate = std::ranges::find(declared, result.variant, &Candidate::name);
    if (result.failure || candidate == declared.end()) return;
    const auto why = order::refutation(op_, *candidate, trials_.page());
    if (!why) return;
    result.failure = Failure{Check::bound, *why};
    result.verdict = Verdict::fail;
  }

  void run_random() {
    std::vector<Source> sources;
    for (std::int64_t i = unit_.from; i < std::min(unit_.to, request_.random_cases); ++i) {
      const std::uint64_t seed = request_.seed + static_cast<std::uint64_t>(i);
      if (!deal(fmt::format("random {}", seed))) continue;
      sources.emplace_back([this, seed] { return random_test_case(op_, seed, request_.work); });
    }
    run_cases(sources, nullptr);
  }

  // By sizes and parameters, then by what inputs hold.
  void run_refusals() {
    if (deal(kRefusals)) {
      plan_cases(1);
      RefusalCheck check(op_, trials_.page());
      for (const Candidate& candidate : trials_.of(op_)) {
        if (candidate.placed) {
          add(check.check(candidate, request_.checks));
        } else {
          candidate.record->not_asked.emplace_back(kRefusals);
        }
      }
    }
    run_made(refused_value_cases(op_));
  }

  void run_made(std::vector<TestCase> tests) {
    std::vector<Source> sources;
    for (TestCase& test : tests) {
      if (deal(test.name)) sources.push_back(made(std::move(test)));
    }
    run_cases(sources, nullptr);
  }

  // Every case that is asked for comes here once, in the same order whatever the shard: they are dealt like cards, since
  // neighbours in a golden file cost alike. True if this shard has it.
  bool deal(const std::string& case_name) {
    if (!request_.only.empty() && !failed_before(case_name)) return false;
    result_.known.push_back(case_name);
    return request_.shard.has(dealt_++);
  }
  // A random case goes by its seed until it is made.
  bool failed_before(const std::string& case_name) const {
    return std::ranges::any_of(request_.only.at(op_.name).cases, [&](const std::string& failed) {
      return failed == case_name || failed.starts_with(case_name + ", ");
    });
  }

  const SuitePlan& plan_;
  const CheckRequest& request_;
  const Unit& unit_;
  const Op& op_;
  Trials& trials_;
  const UnitWatch& watch_;
  std::int64_t dealt_;
  bool first_ = unit_.first;
  UnitResult result_;
};

}  // namespace

UnitResult run_unit(const SuitePlan& plan, const Unit& unit, Trials& trials, const UnitWatch& watch) {
  return UnitRun(plan, unit, trials, watch).run();
}

}  // namespace assay
