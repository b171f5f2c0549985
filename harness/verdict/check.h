// The verdict on one variant at one case (docs/reading-a-verdict.md).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/interop/plugin/code_place.h"
#include "harness/verdict/call.h"
#include "harness/verdict/cases.h"
#include "harness/verdict/checks.h"
#include "harness/verdict/compare.h"
#include "harness/verdict/ledger.h"
#include "harness/verdict/variant.h"

namespace assay {

enum class Verdict : std::uint8_t {
  pass,
  fail,
  mistrusted,  // a kernel that returns zeros would pass too, and no tag says that it is meant
};

struct Failure {
  Check check;
  std::string message;  // what, where, both values
};

// A variant on trial.
struct Candidate {
  std::string name;       // rms_norm_avx2, mine:rms_norm
  std::string selection;  // the options of `assay check OP` that choose just this
  Executor* executor;
  bool canonical = true;               // claims the canonical bits; else only that its own do not change
  std::string acceptance = {};         // the options of `assay ledger accept OP` for it, where it has a ledger of its owner's
  const Ledger* own_ledger = nullptr;  // its owner's; null: none
  bool placed = true;                  // gets the tensors where they lie; false: copies of them (Callable)
  Traits traits = {};
  reference::Arithmetic arithmetic = {};  // what its traits' words say that it computes in
  std::shared_ptr<TraitRecord> record = std::make_shared<TraitRecord>();
  CodePlace code = {};        // of its function
  bool keeps_calls = false;   // CaseResult::call, also of cases that pass
  bool drawn_digests = true;  // CaseResult::digest, also of drawn cases
};

// Whether what a kernel does elsewhere in memory, or once more, counts.
bool judges_layouts(const Candidate& candidate, const Checks& checks);

// Whether the case is for such a kernel: in the domain that it declares, and no refusal where it gets copies.
bool takes(const Candidate& candidate, const TestCase& test);

// Whether truth is computed of a part of its outputs alone.
bool is_sampled(const Op& op, const TestCase& test);

// Of a kernel that declares its arithmetic, on plain data: the worst case of long sums in few bits would let any number pass. Zeros have 1,
// half of a sum 0.5; sums of a million numbers in bf16 have less.
inline constexpr double kMostNmse = 0.25;
std::string no_number(double nmse);

// How its owner's ledger names a plugin's kernel: "rms_norm mine:fast".
std::string ledger_key(const std::string& op, const std::string& variant);

// A call that failed, whole: for who wants to look at it.
struct JudgedCall {
  Signature signature;
  std::vector<Array> inputs;                  // in the order of the signature, as the outputs are
  std::vector<Array> outputs;                 // of a kernel that did not return, what it left
  std::vector<reference::Expected> expected;  // an output each

  std::size_t bytes() const;
};

struct CaseResult {
  std::string op;
  std::string variant;
  std::string case_name;
  std::string source;
  std::vector<std::string> tags;
  Verdict verdict = Verdict::pass;
  bool trivial = false;  // a kernel that returns zeros would pass, and the case says that it is meant
  bool in_ledger = false;
  bool drawn = false;           // of no golden, and not asked for by its shape: no ledger knows it
  bool refusal = false;         // the case asks for a refusal
  std::int64_t compared = 0;    // outputs held to truth
  std::int64_t bits_only = 0;   // outputs without a bound
  std::int64_t placements = 0;  // layouts in memory tried
  double margin = 0;
  std::string worst;            // the output with the largest margin
  std::optional<double> price;  // of declared arithmetic: the margin without the declaration, infinite where a class differs
  std::optional<double> z;
  std::optional<double> spread;
  double nmse = 0;        // the largest of an output (harness/verdict/tolerances.h): shown, not judged
  bool all_close = true;  // likewise
  std::optional<Failure> failure;
  bool crashed = false;   // the kernel did not return
  std::string stability;  // of one that claims no canonical bits: "stable", or in what its bits are not; empty: not judged
  std::string digest;
  std::optional<std::uint64_t> seed;
  std::string data;  // of a random case: its distribution
  Params params;
  std::string repro;                            // the command that runs just this
  std::shared_ptr<const JudgedCall> call = {};  // where it failed, or the candidate keeps them, and was not to be refused
};

// The outputs of the scalar kernel, the reference's word on them, and the errors of the former.
struct CaseBaseline {
  Outcome scalar;
  std::vector<reference::Expected> expected;
  // In the arithmetic that a candidate declares.
  std::vector<std::pair<reference::Arithmetic, std::vector<reference::Expected>>> declared;
  std::vector<double> scalar_square_sums;  // an output each
  bool zeros_pass = false;
};

// Truth and bound of a case's outputs: the reference's, where the golden keeps the truth the golden's. `tensors`: where they lie, in the order
// of the signature. Of a long case that was made from a seed a sample (reference/ops/split.h).
// In declared arithmetic the golden's truth holds where no operand is rounded first.
std::vector<reference::Expected> expected_outputs(const Op& op, const TestCase& test, std::span<void* const> tensors,
                                                  const reference::Arithmetic& how = {});

// One output held to it, as the op's contract says; `golden`: the golden's truth of it, null: there is none.
Comparison compare_output(const Op& op, const TensorSpec& spec, const reference::Expected& expected, const Kept* golden,
                          const Array& y);

// The split into the most parts; null: the call has none.
const Split* split_for_threads(const Signature& signature, const Params& params);
// How much a case can tell of what threads do to a kernel: 0, nothing; kEnoughWorth: as much as any.
int thread_worth(const Op& op, const TestCase& test);
inline constexpr int kEnoughWorth = 8;

// One case of one op, laid out once: what does not depend on the variant is computed when first needed.
class CaseCheck {
 public:
  // `ledger` may be null: then no case is known to it. `page`: of the machine with the largest pages that is to run it.
  // `seed`: of poison and offsets.
  CaseCheck(const Op& op, TestCase test, const Ledger* ledger, std::size_t page = guard_page_bytes(), std::uint64_t seed = 1);

  // In this process.
  CaseResult check(const Variant& variant, const Checks& checks);
  // `threads`: its first call is raced by threads in a fresh process, and many threads run it at once. So it must not have been called
  // here before.
  CaseResult check(const Candidate& candidate, const Checks& checks, bool threads = false);

  // Calls it again and again, at once with what it did at first.
  std::optional<Failure> check_many_calls(const Candidate& candidate, const Checks& checks);

  // Notes that a kernel is not asked, and, until that is seen once, whether it would be wrong.
  void leave_out(const Candidate& candidate, const Checks& checks);

  // The verdict with a failure that came late; without one as it was.
  void apply(std::optional<Failure> failure, CaseResult& result) const;
  bool refused() const { return test_.status != ASSAY_OK; }
  std::size_t bytes() const { return call_.bytes(); }
  // Whether it could tell that one of many calls went wrong: it was checked, writes something, and zeros would not pass.
  bool worth_many_calls() const;

 private:
  struct Surroundings {
    std::vector<Placement> placements;
    std::vector<Split> splits;
  };
  Surroundings surroundings() const;
  void prepare(Executor& scalar);
  void prepare(const Candidate& candidate);
  bool is_scalar(const Candidate& candidate) const { return candidate.executor->function() == op_.kernels().back().run; }
  // Of a case that was drawn it is called once: it is the slowest by far, and its bits are the baseline.
  bool is_known(const Candidate& candidate) const { return test_.drawn && is_scalar(candidate); }
  Comparison compare_output(std::size_t output, const Array& y, const reference::Arithmetic& how = {}) const;
  const std::vector<reference::Expected>& expected(const reference::Arithmetic& how) const;
  std::optional<double> price_of(const Outcome& outcome, const Candidate& candidate) const;
  std::optional<Failure> check_written(const Outcome& outcome, const reference::Arithmetic& how) const;
  std::string granted_elsewhere(const Candidate& candidate, const Outcome& outcome);
  bool zeros_would_pass() const;

  std::optional<Failure> judge(const Candidate& candidate, const Outcome& outcome, const Checks& checks, CaseResult& result);
  std::optional<Failure> check_status(const Outcome& outcome) const;
  std::optional<Failure> check_values(const Candidate& candidate, const Outcome& outcome, const Checks& checks,
                                      CaseResult& result) const;
  std::optional<Failure> check_unsampled(const Candidate& candidate, const Outcome& outcome, const Checks& checks);
  std::optional<Failure> check_spread(const std::vector<Comparison>& outputs, CaseResult& result) const;
  std::optional<Failure> check_bits(const Outcome& outcome) const;
  std::optional<Failure> check_ledger(const Candidate& candidate, const CaseResult& result) const;
  std::optional<Failure> check_layouts(const Candidate& candidate, const Outcome& first, const Checks& checks,
                                       CaseResult& result);
  std::optional<Failure> check_repeats(const Candidate& candidate, const Outcome& first, CaseResult& result);
  std::optional<Failure> check_cut(const Candidate& candidate, const Outcome& first, const Split& split, const Checks& checks,
                                   CaseResult& result);
  using Raced = std::vector<std::vector<Outcome>>;  // races, of each the outcomes
  Raced race(const Candidate& candidate);
  std::vector<Outcome> run_callers(const Candidate& candidate, int callers, const Manner& manner);
  std::optional<Failure> check_crowds(const Candidate& candidate, const Outcome& first, const Raced& raced, const Checks& checks,
                                      CaseResult& result);
  std::optional<Failure> check_two_shapes(const Candidate& candidate, const Checks& checks, CaseResult& result);
  std::optional<Failure> compare_callers(const std::vector<Outcome>& alone, const std::vector<Outcome>& together,
                                         const std::string& how, const Candidate& candidate, const Checks& checks) const;
  std::optional<Failure> compare_layout(const Outcome& first, const Outcome& other, const std::string& how,
                                        const Candidate& candidate, const char* trait, const Checks& checks) const;
  std::optional<Failure> compare_freely(const Outcome& first, const Outcome& other, const std::string& how,
                                        const Candidate& candidate, std::string_view trait, const Checks& checks) const;
  std::optional<Failure> compare_cut(const Outcome& whole, const Outcome& parts, const std::string& how,
                                     const Candidate& candidate, const Checks& checks) const;
  std::optional<Failure> check_placed(const Candidate& candidate, const Outcome& first, const Placement& placement,
                                      const Checks& checks, CaseResult& result);
  void look_for_over_read(const Candidate& candidate);
  std::string other_bits(const Outcome& first, const Outcome& other) const;
  bool known_to_ledger(const Candidate& candidate) const;
  std::string digest_of(const Outcome& outcome) const;
  bool exact() const { return op_.contract->exactness == reference::Exactness::exact; }
  bool bounded() const { return op_.contract->exactness == reference::Exactness::bounded; }
  // NaNs made by arithmetic are alike.
  bool any_nan() const { return bounded() || op_.contract->arithmetic_nans; }

  const Op& op_;
  TestCase test_;
  const Ledger* ledger_;
  std::uint64_t seed_;
  Call call_;
  std::vector<std::size_t> outputs_;  // their indices in the signature
  std::optional<CaseBaseline> baseline_;
};

}  // namespace assay
