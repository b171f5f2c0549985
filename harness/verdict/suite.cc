#include "harness/verdict/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>

#include "golden/manifest.h"
#include "harness/verdict/coverage.h"
#include "harness/verdict/nearest.h"
#include "harness/verdict/op_run.h"
#include "harness/verdict/refusals.h"
#include "harness/verdict/trials.h"
#include "harness/verdict/vast.h"

namespace assay {
namespace {

constexpr std::string_view kShapes = "shapes";

Source made(TestCase test) {
  return [test = std::move(test)] { return test; };
}

class Suite {
 public:
  Suite(const CheckRequest& request, const Progress& progress)
      : request_(request),
        progress_(progress),
        kept_left_(request.kept_bytes),
        ledger_(ledger_path()),
        trials_(request, result_.skips) {}

  SuiteResult run() {
    assert_float_environment();
    for (const std::string& op : request_.ops) require_op(op);
    result_.runner = trials_.runner();
    result_.isolation = trials_.isolation();
    result_.plugins = trials_.plugins();
    if (request_.generated) {
      run_generated();
    } else {
      run_golden();
      run_own("bias", [this](const Op& op) { run_bias(op); });
      run_own(kRefusals, [this](const Op& op) { run_refusals(op); });
      if (request_.shapes) run_own("shapes", [this](const Op& op) { run_shapes(op); });
      if (request_.shapes) run_own("values", [this](const Op& op) { run_made(op, value_cases(op)); });
      if (request_.shapes) run_own("kept", [this](const Op& op) { run_kept(op); });
      if (request_.shapes && !request_.runner && request_.callables.empty())
        run_own("vast", [this](const Op& op) { run_vast(op); });
      if (request_.random_cases > 0) run_own("random", [this](const Op& op) { run_random(op); });
    }
    for (const Op* op : ops()) trials_.take_traits(*op, result_);
    judge();
    return std::move(result_);
  }

 private:
  bool wanted(std::string_view op) const {
    return request_.ops.empty() || std::find(request_.ops.begin(), request_.ops.end(), op) != request_.ops.end();
  }

  void take(CaseResult& result) const {
    if (!request_.golden.empty()) result.repro += " --golden " + request_.golden.string();
    // What lies around tensors comes from it. Cases that are made have it already.
    if (result.repro.find(" --seed ") == std::string::npos && request_.seed != CheckRequest{}.seed)
      result.repro += fmt::format(" --seed {}", request_.seed);
    keep_call(result);
    if (progress_) progress_(result);
  }
  void keep_call(CaseResult& result) const {
    if (!result.call) return;
    const std::size_t bytes = result.call->bytes();
    if (bytes > kept_left_) return result.call.reset();
    kept_left_ -= bytes;
  }
  void add(CaseResult result) {
    take(result);
    result_.cases.push_back(std::move(result));
  }

  void run_cases(const Op& op, const std::vector<Source>& sources, const Ledger* ledger) {
    if (trials_.of(op).empty() || sources.empty()) return;
    const bool first = drilled_.insert(&op).second;
    const OpRun run{op,
                    trials_.of(op),
                    request_.checks,
                    ledger,
                    trials_.page(),
                    request_.seed,
                    first,
                    [this](CaseResult& result) { take(result); }};
    std::ranges::move(assay::run_cases(run, sources), std::back_inserter(result_.cases));
  }

  void run_generated() {
    for (const Op* op : ops()) {
      if (!wanted(op->name)) continue;
      GeneratedRequest one = *request_.generated;
      std::vector<Source> sources;
      for (std::int64_t i = 0; i < request_.generated_cases; ++i, ++one.seed) {
        TestCase test = generated_test_case(*op, one);
        if (deal(*op, test.name)) sources.push_back(made(std::move(test)));
      }
      run_cases(*op, sources, nullptr);
    }
  }

  std::vector<std::filesystem::path> files() const {
    if (!request_.file.empty()) return {request_.file};
    return golden_files(request_.golden.empty() ? own_golden() : request_.golden);
  }

  void run_golden() {
    const bool own = request_.golden.empty();
    const Manifest manifest(own ? own_golden() : request_.golden);
    for (const std::filesystem::path& path : files()) {
      if (own && !wanted(path.stem().string())) continue;  // its name is its op's: nothing of it is read
      const bool listed = manifest.verify(path);
      const GoldenFile file(path, own && listed ? Hdf5Origin::known : Hdf5Origin::stranger);
      const Op* op = find_op(file.op());
      if (op == nullptr) throw std::invalid_argument(path.string() + ": " + unknown_op(file.op()));
      if (!wanted(file.op())) continue;
      std::vector<Source> sources;
      for (const std::string& name : file.case_names()) {
        case_names_.insert(name);
        with_golden_.insert(op);
        if (!request_.case_name.empty() && request_.case_name != name) continue;
        // Only its tags say whether a case is asked for; without --tag another shard's is not even read.
        if (request_.tag.empty()) {
          if (deal(*op, name)) sources.emplace_back([op, &file, name] { return case_from_golden(*op, file, name); });
          continue;
        }
        TestCase test = case_from_golden(*op, file, name);
        tags_.insert(test.tags.begin(), test.tags.end());
        if (test.has_tag(request_.tag) && deal(*op, name)) sources.push_back(made(std::move(test)));
      }
      run_cases(*op, sources, own ? &ledger_ : nullptr);
    }
  }

  // The op's own cases of a kind go with the ops that were asked for, unless only other cases were.
  template <class Run>
  void run_own(const char* kind, const Run& run) {
    case_names_.insert(kind);
    const bool named = request_.case_name.empty() || request_.case_name == kind ||
                       (kind == kShapes && request_.case_name.find('=') != std::string::npos);
    if (!named || !request_.tag.empty()) return;
    for (const Op* op : ops()) {
      if (wanted(op->name) && (request_.file.empty() || request_.file.stem() == op->name)) run(*op);
    }
  }

  // Of each op the case that ledgers know; of strangers' kernels, which may have learnt it by heart, one more of this run's seed.
  std::vector<std::optional<std::uint64_t>> bias_seeds() {
    if (!request_.strangers()) return {std::nullopt};
    result_.seed = request_.seed;
    return {std::nullopt, request_.seed};
  }

  void run_bias(const Op& op) {
    std::vector<Source> sources;
    for (const auto seed : bias_seeds()) {
      auto test = bias_test_case(op, seed);
      if (test && deal(op, test->name)) sources.push_back(made(std::move(*test)));
    }
    run_cases(op, sources, request_.golden.empty() ? &ledger_ : nullptr);
  }

  // All of them, or the one of these parameters.
  void run_shapes(const Op& op) {
    std::vector<Source> sources;
    for (const Params& params : covering_params(op, request_.work > kRandomWork)) {
      const std::string name = params.to_string();
      case_names_.insert(name);
      if (!request_.case_name.empty() && request_.case_name != kShapes && request_.case_name != name) continue;
      if (deal(op, name)) sources.emplace_back([&op, params] { return shape_test_case(op, params); });
    }
    run_cases(op, sources, nullptr);
  }

  // What a random case found once.
  void run_kept(const Op& op) {
    std::vector<Source> sources;
    for (const GeneratedRequest& one : kept_cases(own_golden() / "kept.json", op)) {
      TestCase test = generated_test_case(op, one);
      test.drawn = true;
      if (deal(op, test.name)) sources.push_back(made(std::move(test)));
    }
    run_cases(op, sources, nullptr);
  }

  void run_vast(const Op& op) {
    for (const Params& params : vast_params(op, request_.work)) {
      if (!deal(op, "vast " + params.to_string())) continue;
      VastCheck check(op, params, 1);
      for (const Variant& variant : variants_of(op)) {
        const auto& candidates = trials_.of(op);
        if (std::ranges::find(candidates, variant.name, &Candidate::name) == candidates.end()) continue;
        add(check.check(variant, request_.checks));
      }
    }
  }

  void run_random(const Op& op) {
    result_.seed = request_.seed;
    std::vector<Source> sources;
    for (std::int64_t i = 0; i < request_.random_cases; ++i) {
      const std::uint64_t seed = request_.seed + static_cast<std::uint64_t>(i);
      if (!deal(op, fmt::format("random {}", seed))) continue;
      sources.emplace_back([&op, seed, work = request_.work] { return random_test_case(op, seed, work); });
    }
    run_cases(op, sources, nullptr);
  }

  // By sizes and parameters, then by what inputs hold.
  void run_refusals(const Op& op) {
    if (deal(op, kRefusals)) {
      RefusalCheck check(op, trials_.page());
      for (const Candidate& candidate : trials_.of(op)) {
        if (candidate.placed) {
          add(check.check(candidate, request_.checks));
        } else {
          candidate.record->not_asked.emplace_back(kRefusals);
        }
      }
    }
    run_made(op, refused_value_cases(op));
  }

  void run_made(const Op& op, std::vector<TestCase> tests) {
    std::vector<Source> sources;
    for (TestCase& test : tests) {
      if (deal(op, test.name)) sources.push_back(made(std::move(test)));
    }
    run_cases(op, sources, nullptr);
  }

  // Every case that is asked for comes here once, in the same order whatever the shard: they are dealt like cards, since
  // neighbours in a golden file cost alike. True if this shard has it.
  bool deal(const Op& op, const std::string& case_name) {
    if (trials_.of(op).empty()) return false;
    result_.known[op.name].push_back(case_name);
    return request_.shard.has(dealt_++);
  }

  void require_known_names() const {
    trials_.require_known_variant();
    if (!request_.case_name.empty() && !case_names_.contains(request_.case_name)) {
      throw std::invalid_argument(unknown_name("case", request_.case_name, {case_names_.begin(), case_names_.end()}));
    }
    if (!request_.tag.empty() && !request_.generated && !tags_.contains(request_.tag)) {
      throw std::invalid_argument(unknown_name("tag", request_.tag, {tags_.begin(), tags_.end()}));
    }
    if (request_.shard.split() && dealt_ < request_.shard.count) {
      throw std::invalid_argument(fmt::format("--shard {}: only {} cases are asked for; expected at most as many shards",
                                              request_.shard.to_string(), dealt_));
    }
  }

  // What no single case shows. Whether a variant's cases suffice is judged where all of them are: of several shards by
  // `assay report --merge`.
  void judge() {
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
    for (const Op* op : ops()) {
      if (wanted(op->name) && !with_golden_.contains(op) && !trials_.of(*op).empty())
        result_.faults.push_back(op->name + std::string(": has no golden"));
    }
  }

  const CheckRequest& request_;
  const Progress& progress_;
  mutable std::size_t kept_left_;
  Ledger ledger_;
  std::set<std::string> case_names_;
  std::set<std::string> tags_;
  std::set<const Op*> drilled_;  // whose kernels have been called
  std::set<const Op*> with_golden_;
  std::int64_t dealt_ = 0;
  SuiteResult result_;
  Trials trials_;
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

SuiteResult run_suite(const CheckRequest& request, const Progress& progress) {
  return Suite(request, progress).run();
}

}  // namespace assay
