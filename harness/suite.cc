#include "harness/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "golden/manifest.h"
#include "harness/data_dir.h"
#include "harness/nearest.h"

namespace assay {
namespace {

class Suite {
 public:
  Suite(const CheckRequest& request, const Progress& progress) : request_(request), progress_(progress), ledger_(ledger_path()) {}

  SuiteResult run() {
    assert_float_environment();
    for (const std::string& op : request_.ops) require_adapter(op);
    if (request_.generated) {
      run_generated();
    } else {
      run_golden();
      run_bias();
    }
    judge();
    return std::move(result_);
  }

 private:
  bool wanted(std::string_view op) const {
    return request_.ops.empty() || std::find(request_.ops.begin(), request_.ops.end(), op) != request_.ops.end();
  }

  // The variants of an op that run here; what is left out is noted once.
  const std::vector<std::size_t>& variants(const Adapter& adapter) {
    const auto known = variants_.find(&adapter);
    if (known != variants_.end()) return known->second;
    return variants_[&adapter] = runnable_variants(adapter, request_.isa, result_.skips);
  }

  void check_case(const Adapter& adapter, TestCase test, const Ledger* ledger) {
    if (variants(adapter).empty()) return;
    CaseCheck check(adapter, std::move(test), ledger);
    for (const std::size_t variant : variants(adapter)) {
      result_.cases.push_back(check.check(variant, request_.checks));
      if (!request_.golden.empty()) result_.cases.back().repro += " --golden " + request_.golden.string();
      if (progress_) progress_(result_.cases.back());
    }
  }

  void run_generated() {
    for (const Adapter* adapter : adapters()) {
      if (!wanted(adapter->op())) continue;
      GeneratedRequest one = *request_.generated;
      for (std::int64_t i = 0; i < request_.generated_cases; ++i, ++one.seed) {
        check_case(*adapter, generated_test_case(*adapter, one), nullptr);
      }
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
      manifest.verify(path);
      const GoldenFile file(path);
      const Adapter* adapter = find_adapter(file.op());
      if (adapter == nullptr) throw std::invalid_argument(path.string() + ": " + unknown_name("op", file.op(), op_names()));
      if (!wanted(file.op())) continue;
      for (const std::string& name : file.case_names()) {
        case_names_.insert(name);
        if (!request_.case_name.empty() && request_.case_name != name) continue;
        TestCase test = case_from_golden(*adapter, file, name);
        tags_.insert(test.tags.begin(), test.tags.end());
        if (!request_.tag.empty() && !test.has_tag(request_.tag)) continue;
        check_case(*adapter, std::move(test), own ? &ledger_ : nullptr);
      }
    }
  }

  // The op's own seeded case goes with the ops that were asked for, unless only other cases were.
  void run_bias() {
    case_names_.insert("bias");
    const bool named = request_.case_name == "bias";
    if ((!request_.case_name.empty() && !named) || !request_.tag.empty()) return;
    for (const Adapter* adapter : adapters()) {
      if (!wanted(adapter->op())) continue;
      if (!request_.file.empty() && request_.file.stem() != adapter->op()) continue;
      auto test = bias_test_case(*adapter);
      if (test) check_case(*adapter, std::move(*test), request_.golden.empty() ? &ledger_ : nullptr);
    }
  }

  // What no single case shows.
  void judge() {
    if (!request_.case_name.empty() && !case_names_.contains(request_.case_name)) {
      throw std::invalid_argument(unknown_name("case", request_.case_name, {case_names_.begin(), case_names_.end()}));
    }
    if (!request_.tag.empty() && !request_.generated && !tags_.contains(request_.tag)) {
      throw std::invalid_argument(unknown_name("tag", request_.tag, {tags_.begin(), tags_.end()}));
    }
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> by_variant;  // compared, trusted cases
    for (const CaseResult& one : result_.cases) {
      auto& [compared, trusted] = by_variant[one.variant];
      compared += one.compared + one.bits_only;
      if (!one.trivial && one.verdict != Verdict::mistrusted) ++trusted;
    }
    const bool everything = request_.case_name.empty() && request_.tag.empty() && !request_.generated;
    for (const auto& [variant, counts] : by_variant) {
      if (counts.first == 0) result_.faults.push_back(variant + ": nothing was compared");
      const bool zeros_meant = request_.generated && request_.generated->data == "zeros";
      if ((everything || request_.generated) && !zeros_meant && counts.second == 0)
        result_.faults.push_back(variant + ": no case that a kernel returning zeros would fail");
    }
    if (result_.cases.empty()) result_.faults.emplace_back("no case was run");
    if (!everything) return;
    for (const Adapter* adapter : adapters()) {
      const bool ran =
          std::any_of(result_.cases.begin(), result_.cases.end(), [&](const CaseResult& r) { return r.op == adapter->op(); });
      const bool expected = request_.golden.empty() && request_.file.empty() && wanted(adapter->op());
      if (expected && !ran && !variants(*adapter).empty())
        result_.faults.push_back(std::string(adapter->op()) + ": has no golden");
    }
  }

  const CheckRequest& request_;
  const Progress& progress_;
  Ledger ledger_;
  std::map<const Adapter*, std::vector<std::size_t>> variants_;
  std::set<std::string> case_names_;
  std::set<std::string> tags_;
  SuiteResult result_;
};

}  // namespace

bool SuiteResult::passed() const {
  return faults.empty() &&
         std::all_of(cases.begin(), cases.end(), [](const CaseResult& r) { return r.verdict == Verdict::pass; });
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const Adapter* adapter : adapters()) names.emplace_back(adapter->op());
  return names;
}

const Adapter& require_adapter(const std::string& op) {
  const Adapter* adapter = find_adapter(op);
  if (adapter == nullptr) throw std::invalid_argument(unknown_name("op", op, op_names()));
  return *adapter;
}

std::filesystem::path own_golden() {
  return data_dir() / "golden";
}

std::filesystem::path ledger_path() {
  return own_golden() / "ledger.json";
}

std::vector<std::size_t> runnable_variants(const Adapter& adapter, std::optional<Isa> isa, std::vector<Skip>& skips) {
  const std::vector<Variant> all = adapter.variants();
  std::vector<std::size_t> runnable;
  for (std::size_t v = all.size(); v-- > 0;) {  // scalar first: the others are held to it
    if (isa && all[v].isa != *isa) continue;
    if (isa_supported(all[v].isa)) {
      runnable.push_back(v);
    } else {
      skips.push_back({all[v].name, fmt::format("this CPU lacks {}", isa_name(all[v].isa))});
    }
  }
  if (runnable.empty() && isa && isa_supported(*isa)) {
    skips.push_back({std::string(adapter.op()), fmt::format("has no {} variant", isa_name(*isa))});
  }
  return runnable;
}

SuiteResult run_suite(const CheckRequest& request, const Progress& progress) {
  return Suite(request, progress).run();
}

}  // namespace assay
