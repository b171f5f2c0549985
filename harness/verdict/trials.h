// Who is on trial: of each op the variants that a request asks for, and where they run.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/verdict/suite.h"

namespace assay {

class Trials {
 public:
  // What is left out goes to `skips`, once. Starts the request's runner, if it has one: throws RunnerError.
  Trials(const CheckRequest& request, std::vector<Skip>& skips);

  // Ours scalar first: the others are held to it.
  const std::vector<Candidate>& of(const Op& op);

  // What the kernels of an op have declared, and the cases that they were not asked; nothing of an op that was not of() use.
  void take_traits(const Op& op, SuiteResult& result) const;

  // What another process's run showed of the traits of the op's kernels, by variant: from there, and into here.
  std::map<std::string, TraitRecord> take_records(const Op& op);
  void add_records(const Op& op, const std::map<std::string, TraitRecord>& records);

  // Drops the call of a case (CaseResult::call) where the request's kept_bytes do not hold it beside those before.
  void keep_call(CaseResult& result);

  // Where the functions of an op's kernels are, by their labels.
  void take_code(const Op& op, SuiteResult& result) const;

  // The largest page of the machines that take part.
  std::size_t page() const;
  // "aarch64 (scalar)"; empty: this process.
  std::string runner() const;
  std::string isolation() const { return runner_ ? runner_->isolation() : ""; }
  std::vector<RemotePlugin> plugins() const { return runner_ ? runner_->plugins() : std::vector<RemotePlugin>{}; }
  // Throws std::invalid_argument if a variant was asked for that no op has.
  void require_known_variant() const;

 private:
  std::vector<Candidate> own(const Op& op);
  std::vector<Candidate> remote(const Op& op);
  std::vector<Candidate> callables(const Op& op);
  std::string options_of(const RemoteKernel& kernel) const;
  bool wanted(const Op& op, const std::string& name, std::optional<Isa> isa);
  void require_packed_tensors() const;

  const CheckRequest& request_;
  std::vector<Skip>& skips_;
  std::unique_ptr<RemoteRunner> runner_;
  std::optional<Ledger> own_ledger_;
  std::vector<std::unique_ptr<Executor>> executors_;
  std::map<const Op*, std::vector<Candidate>> known_;
  std::set<std::string> names_;
  std::size_t kept_left_;
};

}  // namespace assay
