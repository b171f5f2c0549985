// Many cases over many variants: what `assay check`, ctest and the ledger run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "harness/interop/remote/remote_runner.h"
#include "harness/verdict/check.h"
#include "harness/verdict/draw.h"
#include "harness/verdict/shard.h"
#include "harness/verdict/shell.h"

namespace assay {

// A kernel that neither this program nor a plugin has, such as a function of Python: whoever has it runs its calls, on copies of their
// tensors. So nothing is asked of it that needs the tensors themselves: guard pages, alignment, aliases, threads, refusals.
struct Callable {
  std::string op;
  std::string name;  // "python:rms_norm"
  std::shared_ptr<Executor> executor;
  Traits traits = {};
};

// Of an op what failed in another run.
struct FailedCases {
  std::set<std::string> variants;
  std::set<std::string> cases;
};

struct CheckRequest {
  std::vector<std::string> ops;  // empty: all
  std::vector<Isa> isas;         // empty: every one that this CPU runs
  std::string
      case_name;    // or a pattern; empty: all; "bias", "shapes", "values", "kept", "vast", "random" are those made from seeds
  std::string tag;  // empty: all; only cases with this tag
  std::filesystem::path golden;               // a folder of golden files; empty: the project's own
  std::filesystem::path file;                 // one golden file instead of a folder; empty: all
  std::optional<GeneratedRequest> generated;  // made from seeds instead of read
  std::int64_t generated_cases = 1;           // seeds from generated->seed on
  bool shapes = false;                        // the ops' calls across what steers their kernels as well
  std::int64_t random_cases = 0;              // of each op as well, from `seed` on
  std::uint64_t seed = 1;                     // also of the order of cases, of what lies around their tensors, and of offsets
  double work = kRandomWork;                  // what a random case may cost
  Shard shard;                                // the part of the cases to run; by default all
  Checks checks = Checks::all();
  std::string variant;                      // empty: all; those of this name or pattern, such as mine:rms_norm or mine:*
  std::map<std::string, FailedCases> only;  // by op; empty: all
  std::optional<RunnerOptions> runner;  // where kernels run; empty: here. With plugins it is these that are checked, else ours
  std::filesystem::path own_ledger;     // the plugins' owner's; empty: none
  std::vector<Callable> callables;      // with these, it is they that are checked
  std::size_t kept_bytes = 0;           // of failed cases' calls (CaseResult::call), as many as that holds
  bool keeps_passing = false;           // likewise of cases that pass
  bool drawn_digests = false;           // CaseResult::digest also of drawn cases, which no ledger knows
  int jobs = 0;                         // processes that share the work; 0: this one does it

  bool wants_case(const std::string& name) const { return case_name.empty() || matches(case_name, name); }
  bool plugins() const { return runner && !runner->plugins.empty(); }
  bool strangers() const { return plugins() || !callables.empty(); }
  // Nothing but ops and ISA narrows it: what is missing then is a fault.
  bool everything() const { return case_name.empty() && tag.empty() && variant.empty() && !generated && only.empty(); }
};

// A variant or a file that was not run, and why.
struct Skip {
  std::string what;
  std::string why;
};

// What a kernel has declared (harness/interop/plugin/properties.h), and whether the run showed that it needs it.
struct DeclaredTrait {
  std::string variant;  // as tables show it
  std::string key;
  std::string value;
  bool seen = false;
};

struct SuiteResult {
  std::map<std::string, std::vector<std::string>> known;  // op -> its cases that were asked for, those of other shards too
  std::vector<CaseResult> cases;
  std::vector<Skip> skips;
  std::vector<DeclaredTrait> traits;  // of plugins' kernels
  std::vector<std::string> faults;    // of the suite as a whole: an op without a trusted case, nothing compared
  std::optional<std::uint64_t> seed;  // of the first random case, if there were any
  std::string runner;                 // where kernels ran, if not here: "aarch64 (scalar)"
  std::string isolation;              // what held it in: "seccomp, landlock, no root"
  std::vector<RemotePlugin> plugins;
  bool interrupted = false;               // what was known then is here; a fault says so
  std::map<std::string, CodePlace> code;  // of each variant, by its label

  bool passed() const;
};

// What the cases of one variant, all of them, must come to.
struct VariantTally {
  std::int64_t compared = 0;
  std::int64_t trusted = 0;  // cases that a kernel returning zeros would fail
  void add(std::int64_t outputs, bool trust) {
    compared += outputs;
    trusted += trust ? 1 : 0;
  }
};

// `faults` and those of variants that compared nothing or, where it is expected, have no trusted case.
std::vector<std::string> tally_faults(const std::map<std::string, VariantTally>& tallies, bool trust_expected,
                                      std::vector<std::string> faults);

// How far a suite is.
struct SuiteProgress {
  std::size_t ops = 0;
  std::size_t ops_done = 0;
  std::int64_t cases_done = 0;  // of each variant
  std::int64_t cases = 0;       // 0: not all are counted yet
  std::optional<double> seconds_left;
};

// Who looks on while a suite runs.
class SuiteWatch {
 public:
  SuiteWatch() = default;
  SuiteWatch(const SuiteWatch&) = delete;
  SuiteWatch& operator=(const SuiteWatch&) = delete;
  virtual ~SuiteWatch() = default;
  // Before the first case. `known`: who runs the kernels; `labels`: the variants, as tables show them.
  virtual void begin(const SuiteResult& /*known*/, const std::vector<std::string>& /*labels*/) {}
  virtual void progress(const SuiteProgress& /*now*/) {}
  virtual void case_done(const CaseResult& /*one*/) {}
  // All cases of one op. Ops come in the suite's order, whoever ends first.
  virtual void op_done(std::span<const CaseResult> /*cases*/) {}
  // Asked between cases: whether to leave the rest.
  virtual bool stop() { return false; }
};

// The same for any number of jobs. Throws std::invalid_argument (unknown names, more shards than cases), std::runtime_error (unreadable
// files) or RunnerError (a runner or a plugin that cannot be used): wrong use, exit code 2. With jobs all but the first are
// std::runtime_error, and this process must have one thread.
SuiteResult run_suite(const CheckRequest& request, SuiteWatch& watch);
SuiteResult run_suite(const CheckRequest& request);

// The names of all ops, for messages.
std::vector<std::string> op_names();

// "unknown op 'rms_nrom'; the nearest is 'rms_norm'"; without one near it all of them, by family.
std::string unknown_op(const std::string& word);

// Throws std::invalid_argument of unknown_op.
const Op& require_op(const std::string& op);

// Those that the words name, each once: names and patterns. Throws std::invalid_argument for a word that is none, or matches none.
std::vector<std::string> named_ops(const std::vector<std::string>& words);

// The project's own golden folder and its ledger.
std::filesystem::path own_golden();
std::filesystem::path ledger_path();

// A variant as tables show it: a plugin's, whose name says nothing of its op, with the op.
std::string variant_label(const std::string& op, const std::string& variant);

}  // namespace assay
