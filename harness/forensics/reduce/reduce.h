// The smallest call that a kernel still fails as it failed a given one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "golden/store.h"
#include "harness/forensics/reduce/shrink.h"
#include "harness/verdict/check.h"

namespace assay {

// The checks that hold a call to truth or to its memory, all of them within one call's power to show.
inline Checks reducible_checks(const Checks& asked) {
  return asked.only({Check::classes, Check::bound, Check::exact, Check::guard});
}

struct ReduceProgress {
  std::int64_t calls = 0;
  double seconds = 0;
  std::string call;  // the smallest that fails so far, its parameters
  std::int64_t nonzero = 0;
};

struct ReduceRequest {
  const Op* op;
  const Candidate* candidate;
  CallData call;           // that fails
  Failure failure;         // as this says
  Checks checks;           // of which it is one
  std::size_t page;        // Trials::page()
  std::uint64_t seed = 1;  // of what lies around tensors
  std::int64_t most_calls;
  double most_seconds;
  std::function<void(const ReduceProgress&)> progress = {};
  std::function<bool()> stop = {};  // whether to leave it at what is found
};

struct Reduction {
  CallData call;
  CaseResult result;  // of that call; its `call` has the outputs and the truth
  std::int64_t calls = 0;
  double seconds = 0;
  bool ended_early = false;  // by calls, time or stop: it may be smaller still
};

// Throws std::invalid_argument where the kernel does not fail `call` like that by itself.
Reduction reduce(const ReduceRequest& request);

// Whether a failure is like another: the same check; of classes the same ones (NaN, infinity, zero, other
// numbers); of the guard and of statuses the same words but for numbers and placement.
bool same_manner(const Failure& one, const Failure& other);

// With the reference's truth.
GoldenCase golden_of(const Op& op, const Reduction& reduction, const std::string& name);

}  // namespace assay
